/** Waiting for work that others wait for too, no longer than one's own signal allows. */

/** Where a signal carries those who listen to it here: no module holds anything of a caller's. */
const LISTENERS = Symbol('bucketstore.listeners');

interface Heard extends AbortSignal {
  [LISTENERS]?: Set<() => void>;
}

/**
 * Calls `listener` when `signal`, which has not aborted, does. Answers the function that takes the
 * listener away again; whoever listens runs it when its work ends.
 *
 * A signal has one event listener however many calls share it, and none when they have ended: Node
 * warns of a leak from the eleventh on, and walks all of them for each that comes and goes.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const heard: Heard = signal;
  heard[LISTENERS] ??= new Set();
  const listeners = heard[LISTENERS];
  if (listeners.size === 0) signal.addEventListener('abort', tell, { once: true });
  listeners.add(listener);
  return () => {
    if (!listeners.delete(listener) || listeners.size > 0) return;
    signal.removeEventListener('abort', tell);
  };
}

function tell(this: AbortSignal): void {
  const listeners = (this as Heard)[LISTENERS];
  // Each may take others away as it is told; those are then not told any more.
  for (const listener of listeners ?? []) listener();
  listeners?.clear();
}

/**
 * What `work` gives; the signal's reason when it aborts first. The work goes on, and leaves no
 * listener on the signal.
 */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  // Whoever had left before it began does not wait for it: its failure is then nobody's.
  work.catch(() => undefined);
  signal.throwIfAborted();
  let forget = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    forget = onAbort(signal, () => reject(signal.reason));
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    forget();
  }
}
