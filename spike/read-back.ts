/** The end of every run: the bucket is read by a reader that shares no code with the store. */
import { integrityError } from '../bucketstore/base/errors.ts';
import { OracleError } from '../test/oracle/objects.ts';
import { type OracleBucket, type OracleWorld, readWorld } from '../test/oracle/world.ts';
import { openStack } from './idle.ts';
import type { Machine } from './machine.ts';

/** What the bucket says of the writes that were acknowledged. */
export interface ReadBack {
  /** Acknowledged operations that are not in the log exactly once; null: it was not read. */
  readonly lostAcknowledged: number | null;
  /** Why it was not read to its end. */
  readonly failure: unknown;
}

/**
 * Reads the whole log, and every staged version: one get for each. Not once the run is interrupted.
 * Never rejects: what went wrong is a result, since the figures of the run are worth having.
 */
export async function readBack(
  machine: Machine,
  bare: string,
  acknowledged: Iterable<string>,
): Promise<ReadBack> {
  const { signal, progress } = machine;
  try {
    signal.throwIfAborted();
    progress('reading the bucket back');
    const world = await readAll(machine, bare);
    return { lostAcknowledged: countLost(world, acknowledged), failure: null };
  } catch (error) {
    const failure =
      error instanceof OracleError ? integrityError(error.object, error.message, error) : error;
    return { lostAcknowledged: null, failure };
  }
}

async function readAll(machine: Machine, bare: string): Promise<OracleWorld> {
  const { signal } = machine;
  const bucket = await openStack(machine, bare);
  const reader: OracleBucket = {
    get: (key) => bucket.get(key, { signal }),
    list: (query) => bucket.list(query, { signal }),
  };
  try {
    return await readWorld(reader);
  } finally {
    await bucket.close();
  }
}

/**
 * Acknowledged operations that are not in the log exactly once.
 * @param acknowledged operations, each once
 */
export function countLost(
  { ops }: Pick<OracleWorld, 'ops'>,
  acknowledged: Iterable<string>,
): number {
  let lost = 0;
  for (const op of acknowledged) if (ops.get(op)?.length !== 1) lost++;
  return lost;
}
