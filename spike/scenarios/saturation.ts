/** As many writes as one store takes, or more: what it can do at most, and how it says no. */
import { DROPPED_SECONDS, type SpikeArguments } from '../arguments.ts';
import type { Machine } from '../machine.ts';
import type { Outcome } from '../outcome.ts';
import { runWriters } from '../stores.ts';

/**
 * `--writers` loops on one store; nothing is dropped, so growing to full batches counts. With
 * `--rate` arrivals that wait for nobody: above what the store can take, an overload.
 */
export function runSaturation(machine: Machine, asked: SpikeArguments): Promise<Outcome> {
  const droppedSeconds = asked.rate === null ? 0 : DROPPED_SECONDS;
  return runWriters({ machine, asked, droppedSeconds });
}
