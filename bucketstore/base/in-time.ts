/** Waiting for work that others wait for too, no longer than one's own call allows. */
import { abortable } from './abortable.ts';
import { after, type Clock } from './clock.ts';
import { StoreError } from './errors.ts';

/** What a call says of how long it waits. */
export interface CallLimits {
  readonly signal?: AbortSignal | undefined;
  /** ms. Default: as long as the work takes, which is bounded by itself. */
  readonly deadlineMs?: number | undefined;
}

/**
 * What `work` gives. The work goes on when the call ends first, and is left without a listener and
 * without a timer.
 * @throws StoreError `UNAVAILABLE` when `deadlineMs` passes first; the signal's reason when it
 *   aborts first
 */
export async function inTime<T>(
  clock: Clock,
  work: Promise<T>,
  { signal, deadlineMs }: CallLimits,
): Promise<T> {
  if (deadlineMs === undefined) return abortable(work, signal);
  const late = new AbortController();
  const stop = after(clock, deadlineMs, () => {
    late.abort(new StoreError('UNAVAILABLE', `no answer of the bucket within ${deadlineMs} ms`));
  });
  try {
    return await abortable(abortable(work, late.signal), signal);
  } finally {
    stop();
  }
}

/** The options of a call that began `sinceMs` ago, with what is left of its time. */
export function rest<O extends CallLimits>(options: O, sinceMs: number): O {
  const { deadlineMs } = options;
  if (deadlineMs === undefined) return options;
  return { ...options, deadlineMs: Math.max(1, deadlineMs - sinceMs) };
}
