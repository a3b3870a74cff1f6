/** Writes that arrive by chance at a mean rate: what a user waits for. */
import { DROPPED_SECONDS, type SpikeArguments } from '../arguments.ts';
import type { Machine } from '../machine.ts';
import type { Outcome } from '../outcome.ts';
import { runWriters } from '../stores.ts';

/** One store at `--rate`; the first 5 s warm it up and are dropped. */
export function runLatency(machine: Machine, asked: SpikeArguments): Promise<Outcome> {
  return runWriters({ machine, asked, droppedSeconds: DROPPED_SECONDS });
}
