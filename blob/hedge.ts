/**
 * Hedging: a second identical request when the first is slower than most. Stands below the
 * deadline, which therefore bounds both, and above the observer, which therefore counts both.
 *
 * Only `get` and `create` are doubled. Two creates of one name race each other, so from the moment
 * the second is sent, "exists" may be the answer to our own success: it is then an ambiguous error,
 * never a loss, and the caller reads the name back.
 */
import { type BlobStore, DEADLINE_MS_DEFAULT, type Timing } from './blob.ts';
import { abortOf, Cancel } from './cancel.ts';
import { type Call, type CallResult, decorate, type Send } from './decorate.ts';
import { BlobError, isBlobError } from './errors.ts';
import { LatencyWindow } from './latency-window.ts';
import { abortedError, after, DONE, onAbort } from './signal.ts';
import { checkSignal } from './validate.ts';

export interface HedgeOptions {
  readonly timing: Timing;
}

const KIB = 1024;
/** What each call adds to the budget, in hedges. */
const EARNED_PER_CALL = 0.1;
/** What the budget holds at most, in hedges, and at the start. */
const BANKED_MAX = 10;

/**
 * `store` whose `get` and `create` send a second identical request after the recent 95th percentile
 * of their kind (creates by size: below 64 KiB, below 1 MiB, larger), 25 ms to 1 s, 100 ms before
 * there are samples.
 *
 * The first answer wins, *not found* included; the other request is aborted and what it says
 * ignored. When one fails, the other is waited for; when both fail, the error is ambiguous if
 * either was. Of n calls at most n / 10 + 10 are doubled. Adds to `create` the error `unavailable`,
 * ambiguous, for "exists" after a hedge. State is bounded: four windows of 256 numbers.
 */
export function withHedge(store: BlobStore, { timing }: HedgeOptions): BlobStore {
  const budget = new Budget();
  const gets = new LatencyWindow();
  const creates = [new LatencyWindow(), new LatencyWindow(), new LatencyWindow()] as const;
  return decorate(store, (call, send) => {
    const { operation } = call;
    if (operation !== 'get' && operation !== 'create') return send();
    const window = operation === 'get' ? gets : creates[sizeClass(call.bytesOut)];
    return new Race({ timing, budget, window, call, send }).run();
  });
}

function sizeClass(bytes: number): 0 | 1 | 2 {
  if (bytes < 64 * KIB) return 0;
  return bytes < KIB * KIB ? 1 : 2;
}

/**
 * A tenth of a hedge for each call, at most ten in the bank; whole tenths, so that sums are exact.
 */
class Budget {
  #tenths = BANKED_MAX / EARNED_PER_CALL;

  earn(): void {
    this.#tenths = Math.min(BANKED_MAX / EARNED_PER_CALL, this.#tenths + 1);
  }

  spend(): boolean {
    if (this.#tenths < 1 / EARNED_PER_CALL) return false;
    this.#tenths -= 1 / EARNED_PER_CALL;
    return true;
  }
}

interface RaceInit<T> {
  readonly timing: Timing;
  readonly budget: Budget;
  readonly window: LatencyWindow;
  readonly call: Call;
  readonly send: Send<T>;
}

/** One call: its first request, perhaps its second, and which of them decides. */
class Race<T extends CallResult> {
  readonly #init: RaceInit<T>;
  readonly #twins: Cancel[] = [];
  readonly #failures: unknown[] = [];
  readonly #startedMs: number;
  #ended = false;
  #forget: () => void = () => {};
  #stop: () => void = () => {};
  #resolve: (result: T) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(init: RaceInit<T>) {
    this.#init = init;
    this.#startedMs = init.timing.monotonic();
  }

  run(): Promise<T> {
    const { timing, budget, window, call } = this.#init;
    const source = abortOf(call.options);
    checkSignal(call.operation, call.key, source);
    budget.earn();
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#forget = onAbort(source, () =>
        this.#end(() => reject(abortedError(call.operation, call.key, source?.reason, true))),
      );
      this.#start();
      if (this.#ended) return;
      this.#stop = after(timing, window.delayMs, () => {
        if (!this.#ended && budget.spend()) this.#start();
      });
    });
  }

  #start(): void {
    const { timing, send, window, call } = this.#init;
    const twin = new Cancel();
    const startedMs = timing.monotonic();
    const { deadlineMs = DEADLINE_MS_DEFAULT } = call.options;
    this.#twins.push(twin);
    // The second request has no more time than the first: the deadline is the call's.
    const leftMs = deadlineMs - (startedMs - this.#startedMs);
    send({ cancel: twin, deadlineMs: leftMs }).then(
      (result) => {
        if (this.#ended) return;
        // The request's own duration, not the call's: else hedged calls would raise the percentile.
        window.add(timing.monotonic() - startedMs);
        this.#answered(result);
      },
      (error: unknown) => {
        this.#failures.push(error);
        // Before the hedge is sent a failure is the answer; after it, only the last one is.
        if (this.#failures.length < this.#twins.length) return;
        this.#end(() => this.#reject(worst(this.#failures)));
      },
    );
  }

  #answered(result: T): void {
    const taken = 'outcome' in result && result.outcome === 'exists';
    if (!taken || this.#twins.length === 1) {
      this.#end(() => this.#resolve(result));
      return;
    }
    const { operation, key } = this.#init.call;
    const message = 'name taken after a second identical request was sent; it may be our own';
    const { date } = result;
    this.#end(() =>
      this.#reject(
        new BlobError({ code: 'unavailable', operation, key, message, ambiguous: true, date }),
      ),
    );
  }

  #end(settle: () => void): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stop();
    this.#forget();
    settle();
    for (const twin of this.#twins) twin.abort(DONE);
  }
}

/** Of the failures of a call's requests the one to report: an ambiguous one, else the first. */
function worst(failures: readonly unknown[]): unknown {
  return failures.find((error) => isBlobError(error) && error.ambiguous) ?? failures[0];
}
