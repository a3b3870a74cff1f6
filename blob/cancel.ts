/**
 * What a decorator cancels the request below it with. An `AbortSignal` costs more than all else
 * that a call does together, and hardly any request is ever cancelled: so the signal is made only
 * for a driver that asks for it, and the decorators listen without one.
 */
import type { CallOptions } from './blob.ts';

/** Where the options of a call carry what cancels it. */
const CANCEL: unique symbol = Symbol('bucketstore.blob.cancel');

interface Carrying extends CallOptions {
  readonly [CANCEL]?: Cancel;
}

/** What may end a call: a caller's signal, or a decorator's `Cancel`. */
export type AbortSource = AbortSignal | Cancel;

/** One request's, as `AbortController` is. */
export class Cancel {
  #aborted = false;
  #reason: unknown;
  #controller: AbortController | null = null;
  #listeners: Set<() => void> | null = null;
  #carrier: CallOptions | null = null;
  #plain: CallOptions | null = null;

  /** What cancels the call of these options, when that is a `Cancel`. */
  static of(options: Carrying): Cancel | undefined {
    const cancel = options[CANCEL];
    return cancel?.isCarriedBy(options) ? cancel : undefined;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** The signal that aborts with it; made now. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Tells whoever listens. Only the first counts. */
  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = null;
    // Each may take others away as it is told; those are then not told any more.
    for (const listener of listeners ?? []) listener();
    this.#controller?.abort(reason);
  }

  /** Answers the function that takes the listener away again. */
  onAbort(listener: () => void): () => void {
    this.#listeners ??= new Set();
    const listeners = this.#listeners;
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  /** What its carrier was made from; reading that makes no signal. Null before there is one. */
  get plain(): CallOptions | null {
    return this.#plain;
  }

  /** A copy of the carrier may have been given another signal, so it is not one. */
  isCarriedBy(options: CallOptions): boolean {
    return this.#carrier === options;
  }

  /**
   * `options` with a `signal` that is this one's, made when it is read. Once for each `Cancel`.
   */
  carrierOf<O extends CallOptions>(options: O, deadlineMs: number | undefined): O {
    const cancel = this;
    const plain = (Cancel.of(options)?.plain ?? options) as O;
    const carrier = {
      ...plain,
      deadlineMs,
      get signal(): AbortSignal {
        return cancel.signal;
      },
      [CANCEL]: cancel,
    };
    this.#plain = plain;
    this.#carrier = carrier;
    return carrier;
  }
}

/** What may end the call of these options. Makes no signal, as reading `options.signal` may. */
export function abortOf(options: CallOptions): AbortSource | undefined {
  return Cancel.of(options) ?? options.signal;
}
