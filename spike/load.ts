/** The two kinds of load: arrivals by chance that wait for nobody, and loops that wait. */
import type { Clock, Random } from '../bucketstore/index.ts';
import type { Machine } from './machine.ts';

/** How long, and what is measured of it. */
export interface Period {
  /** Monotonic ms. */
  readonly startMs: number;
  readonly endMs: number;
  /** Answers before this are not measured. */
  readonly measuredMs: number;
  /** Aborts when the run is to end before its time. */
  readonly signal: AbortSignal;
}

/** A period that begins now. */
export function periodFrom(
  { clock, signal }: Pick<Machine, 'clock' | 'signal'>,
  seconds: number,
  droppedSeconds: number,
): Period {
  const startMs = clock.monotonic();
  const measuredMs = startMs + droppedSeconds * 1000;
  return { startMs, endMs: startMs + seconds * 1000, measuredMs, signal };
}

/** How much of a period was measured, s: all of it unless it was interrupted. */
export function measuredSeconds({ endMs, measuredMs, signal }: Period, nowMs: number): number {
  const lastMs = signal.aborted ? Math.min(nowMs, endMs) : endMs;
  return Math.round(Math.max(lastMs - measuredMs, 0)) / 1000;
}

const BURST_MAX = 512;

/** Does one thing that was due at `dueMs`; never rejects. */
export type Act = (dueMs: number) => Promise<void>;

/**
 * Arrivals of a Poisson process: exponential gaps drawn from `chance`. An arrival that the machine
 * was late for is due when it was due, so that a stall of this process counts as latency.
 */
export async function arrive(
  clock: Clock,
  chance: Pick<Random, 'number'>,
  ratePerSecond: number,
  { startMs, endMs, signal }: Period,
  act: Act,
): Promise<void> {
  const open = new Set<Promise<void>>();
  let dueMs = startMs;
  let atOnce = 0;
  for (;;) {
    // 1 - u lies in (0, 1]: its logarithm is finite.
    dueMs += (-Math.log(1 - chance.number()) / ratePerSecond) * 1000;
    if (dueMs >= endMs) break;
    const waitMs = dueMs - clock.monotonic();
    atOnce = waitMs > 0 ? 0 : atOnce + 1;
    // Late arrivals come in bursts, between which what they asked for gets its turn.
    if (waitMs > 0 || atOnce % BURST_MAX === 0) await sleepOrEnd(clock, waitMs, signal);
    if (signal.aborted) break;
    const acting = act(dueMs).finally(() => open.delete(acting));
    open.add(acting);
  }
  await Promise.all(open);
}

/** `loops` loops, each of which begins again as soon as it is answered, until the end. */
export async function loop(
  clock: Clock,
  loops: number,
  { endMs, signal }: Period,
  act: Act,
): Promise<void> {
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const nowMs = clock.monotonic();
      if (nowMs >= endMs) return;
      await act(nowMs);
    }
  };
  await Promise.all(Array.from({ length: loops }, run));
}

/** Sleeps, or not to the end when the signal aborts. */
export async function sleepOrEnd(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(Math.max(ms, 0), { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
