/** Several stores that race for every name: what is left of one store's rate, and who gets it. */
import { DROPPED_SECONDS, type SpikeArguments } from '../arguments.ts';
import type { Machine } from '../machine.ts';
import type { Outcome } from '../outcome.ts';
import { runWriters } from '../stores.ts';

/** `--stores` stores in this process, each at `--rate`, or each saturated without it. */
export function runContention(machine: Machine, asked: SpikeArguments): Promise<Outcome> {
  const droppedSeconds = asked.rate === null ? 0 : DROPPED_SECONDS;
  return runWriters({ machine, asked, droppedSeconds });
}
