/** What calls came to, and what they left behind. */
import { type BlobError, isBlobError } from '../../blob/errors.ts';

/** The error a promise fails with. @throws Error when it does not fail */
export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  let result: unknown;
  try {
    result = await work;
  } catch (error) {
    return error;
  }
  throw new Error(`expected a failure, got ${JSON.stringify(result)}`);
}

/** The error of a call that must fail with a `BlobError`. */
export async function errorOf(call: Promise<unknown>): Promise<BlobError> {
  const thrown: unknown = await call.then(
    (value) => new Error(`resolved with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (!isBlobError(thrown)) throw thrown;
  return thrown;
}

export interface CountedSignal {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Listeners now. */
  listeners(): number;
  /** Listeners at the worst moment. */
  listenersMax(): number;
}

/**
 * A signal that knows how many listen to it: one that outlives its calls must not collect
 * listeners.
 */
export function countedSignal(): CountedSignal {
  const controller = new AbortController();
  const { signal } = controller;
  const listening = new Set<unknown>();
  let most = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type: string, listener: () => void, options?: object): void => {
    listening.add(listener);
    most = Math.max(most, listening.size);
    add(type, listener, options);
  };
  signal.removeEventListener = (type: string, listener: () => void): void => {
    listening.delete(listener);
    remove(type, listener);
  };
  add('abort', () => listening.clear(), { once: true });
  return {
    signal,
    abort: (reason) => controller.abort(reason),
    listeners: () => listening.size,
    listenersMax: () => most,
  };
}
