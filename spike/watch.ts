/** A load from outside while it goes on: CPU, memory now and then, and how far it is. */
import { measuredSeconds, type Period, periodFrom, sleepOrEnd } from './load.ts';
import type { Machine } from './machine.ts';

/** What the process held, and when from the start of the load. */
export type RssSample = readonly [seconds: number, bytes: number];

export interface Watched {
  readonly cpuMicros: number;
  /** The measured time, s. */
  readonly seconds: number;
  /** Every minute from the start, and at the end. */
  readonly rss: readonly RssSample[];
  /** How late the event loop was, ms, at the 99.9th percentile; null: not measured. */
  readonly loopDelayP999Ms: number | null;
}

export interface Watching {
  readonly seconds: number;
  readonly droppedSeconds: number;
  /** How far it is, in words. */
  readonly told: () => string;
}

const TICK_MS = 1_000;
const TICKS_PER_SAMPLE = 60;

/** Runs a load for a period that begins now. */
export async function watch(
  machine: Machine,
  { seconds, droppedSeconds, told }: Watching,
  load: (period: Period) => Promise<unknown>,
): Promise<Watched> {
  const { clock } = machine;
  const rss: RssSample[] = [];
  const period = periodFrom(machine, seconds, droppedSeconds);
  const sample = (): void => {
    const atMs = Math.round(clock.monotonic() - period.startMs);
    rss.push([atMs / 1000, machine.rssBytes()]);
  };
  const look = (tick: number): void => {
    const far = `${Math.min(tick, seconds)} of ${seconds} s`;
    const state = machine.signal.aborted ? 'interrupted, waiting for what was sent' : far;
    machine.progress(`${state}, ${told()}`);
    if (tick % TICKS_PER_SAMPLE === 0) sample();
  };
  const over = new AbortController();
  const cpuMicros = machine.cpuMicros();
  const loop = machine.watchLoop();
  sample();
  const looking = lookEachTick(machine, period, over.signal, look);
  let loopDelayP999Ms: number | null = null;
  try {
    await load(period);
  } finally {
    loopDelayP999Ms = loop.stop();
    over.abort('over');
    await looking;
  }
  const spentMicros = machine.cpuMicros() - cpuMicros;
  sample();
  const measured = measuredSeconds(period, clock.monotonic());
  return { cpuMicros: spentMicros, seconds: measured, rss, loopDelayP999Ms };
}

async function lookEachTick(
  { clock }: Machine,
  { startMs }: Period,
  over: AbortSignal,
  look: (tick: number) => void,
): Promise<void> {
  for (let tick = 1; ; tick++) {
    await sleepOrEnd(clock, startMs + tick * TICK_MS - clock.monotonic(), over);
    if (over.aborted) return;
    look(tick);
  }
}
