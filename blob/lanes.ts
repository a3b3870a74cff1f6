/**
 * Lanes. Stands below retry (waiting between attempts holds no room) and above the deadline: one
 * call here is one attempt, and its hedge shares its room.
 *
 * Each lane has a limit of its own, so commit traffic never queues behind thousands of bulk reads.
 */
import { type BlobStore, DEADLINE_MS_DEFAULT, type Lane, type Timing } from './blob.ts';
import { type Call, type CallResult, decorate, type Send } from './decorate.ts';
import { abortedError, after, onAbort, timeoutError } from './signal.ts';
import { checkSignal } from './validate.ts';

/**
 * Runs tasks, some at a time; a task that still waits when `signal` aborts rejects and never runs.
 */
export interface LaneLimit {
  /** Whether a task that is handed in now runs at once: some may, and none waits before it. */
  readonly hasRoom: boolean;
  run<T>(
    task: () => Promise<T>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<T>;
}

export type Lanes = Readonly<Record<Lane, LaneLimit>>;

export interface LanesOptions {
  readonly timing: Timing;
}

/**
 * `store` whose calls wait for room in the lane they name (default `read`). Waiting counts against
 * the deadline: what is left of it goes down with the call. A call that is aborted, or whose
 * deadline passes, while it waits was never sent: `aborted` or `timeout`, not ambiguous, also for
 * writes.
 */
export function withLanes(store: BlobStore, lanes: Lanes, { timing }: LanesOptions): BlobStore {
  return decorate(store, (call, send) =>
    admitted(lanes[call.options.lane ?? 'read'], timing, call, send),
  );
}

function admitted<T extends CallResult>(
  lane: LaneLimit,
  timing: Timing,
  call: Call,
  send: Send<T>,
): Promise<T> {
  const { operation, key, options } = call;
  checkSignal(operation, key, options.signal);
  if (!lane.hasRoom) return queued(lane, timing, call, send);
  // It begins a turn later at most: no time passes, but its signal may abort.
  return lane.run(() => {
    checkSignal(operation, key, options.signal);
    return send();
  });
}

async function queued<T extends CallResult>(
  lane: LaneLimit,
  timing: Timing,
  call: Call,
  send: Send<T>,
): Promise<T> {
  const { operation, key } = call;
  const { signal, deadlineMs = DEADLINE_MS_DEFAULT } = call.options;
  const startedMs = timing.monotonic();
  const waiting = new AbortController();
  const forget = onAbort(signal, () =>
    waiting.abort(abortedError(operation, key, signal?.reason, false)),
  );
  const stop = after(timing, deadlineMs, () =>
    waiting.abort(
      timeoutError(operation, key, `no room within ${deadlineMs} ms; nothing was sent`, false),
    ),
  );
  const stopWaiting = (): void => {
    forget();
    stop();
  };
  let begun = false;
  const task = (): Promise<T> => {
    begun = true;
    stopWaiting();
    return send({ deadlineMs: deadlineMs - (timing.monotonic() - startedMs) });
  };
  try {
    return await lane.run(task, { signal: waiting.signal });
  } catch (error) {
    throw !begun && waiting.signal.aborted ? waiting.signal.reason : error;
  } finally {
    stopWaiting();
  }
}
