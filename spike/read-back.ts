/** The end of every run: the bucket is read by a reader that shares no code with the store. */
import { openDriver, parseLocation } from '../blob/index.ts';
import { type OracleWorld, readWorld } from '../test/oracle/world.ts';
import type { Machine } from './machine.ts';

/** What the log says of the operations that were acknowledged. */
export interface ReadBack {
  /** Acknowledged operations that are not in the log exactly once. */
  readonly lostAcknowledged: number;
  /** Slots and entries of the log, those of earlier runs included. */
  readonly slots: number;
  readonly entries: number;
}

/**
 * Reads the whole log, and every staged version: one get for each.
 * @throws OracleError naming the object that breaks a rule of the log
 */
export async function readBack(
  machine: Machine,
  bare: string,
  acknowledged: readonly string[],
): Promise<ReadBack> {
  const { clock: timing, random: chance } = machine;
  const bucket = await openDriver(parseLocation(bare), { timing, chance });
  try {
    return compare(await readWorld(bucket), acknowledged);
  } finally {
    await bucket.close();
  }
}

/** @param acknowledged operations, each once */
export function compare(
  { ops, slots, entries }: Pick<OracleWorld, 'ops' | 'slots' | 'entries'>,
  acknowledged: readonly string[],
): ReadBack {
  const lost = acknowledged.filter((op) => ops.get(op)?.length !== 1);
  return { lostAcknowledged: lost.length, slots: slots.length, entries: entries.length };
}
