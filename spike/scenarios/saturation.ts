/** As many writes as one store takes: what it can do at most, and what a write costs in CPU. */
import type { SpikeArguments } from '../arguments.ts';
import type { Machine } from '../machine.ts';
import type { Outcome } from '../outcome.ts';
import { runWriters } from '../stores.ts';

/** `--writers` loops on one store; nothing is dropped, so growing to full batches counts. */
export function runSaturation(machine: Machine, asked: SpikeArguments): Promise<Outcome> {
  return runWriters({ machine, asked: { ...asked, rate: null }, droppedSeconds: 0 });
}
