/** The end of every run: the bucket is read by a reader that shares no code with the store. */
import { integrityError } from '../bucketstore/base/errors.ts';
import { sequence } from '../bucketstore/base/sequence.ts';
import { LOG_PREFIX, slotKey } from '../bucketstore/log/names.ts';
import { decodeSlot, demand, OracleError } from '../test/oracle/objects.ts';
import { type OracleBucket, type OracleWorld, readWorld } from '../test/oracle/world.ts';
import { openStack } from './idle.ts';
import type { Machine } from './machine.ts';

const SLOTS_AT_ONCE = 64;

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
export function readBack(
  machine: Machine,
  bare: string,
  acknowledged: Iterable<string>,
): Promise<ReadBack> {
  return readingBack(machine, acknowledged, () => readAll(machine, bare));
}

/**
 * The same of a log that is long, or does not begin with an empty world: reads the slots behind a
 * sequence only, and only what they say of themselves and each other. One get for each.
 */
export function readBackSince(
  machine: Machine,
  bare: string,
  since: number,
  acknowledged: Iterable<string>,
): Promise<ReadBack> {
  return readingBack(machine, acknowledged, () => readSince(machine, bare, since));
}

async function readingBack(
  { signal, progress }: Machine,
  acknowledged: Iterable<string>,
  read: () => Promise<Pick<OracleWorld, 'ops'>>,
): Promise<ReadBack> {
  try {
    signal.throwIfAborted();
    progress('reading the bucket back');
    return { lostAcknowledged: countLost(await read(), acknowledged), failure: null };
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

async function readSince(
  machine: Machine,
  bare: string,
  since: number,
): Promise<Pick<OracleWorld, 'ops'>> {
  const { signal } = machine;
  const ops = new Map<string, number[]>();
  const bucket = await openStack(machine, bare);
  let last = since;
  try {
    for (let after = slotKey(sequence(since)); ; ) {
      const page = await bucket.list(
        { prefix: LOG_PREFIX, after, limit: SLOTS_AT_ONCE },
        { signal },
      );
      const found = await Promise.all(
        page.objects.map(async ({ key }) => ({ key, read: await bucket.get(key, { signal }) })),
      );
      for (const { key, read } of found) {
        if (!read.found) throw new OracleError(key, 'was listed and is absent');
        const slot = decodeSlot(key, read.bytes);
        demand(slot.first === last + 1, key, `does not continue ${last}`);
        for (const { op, sequence: at } of slot.entries) ops.set(op, [...(ops.get(op) ?? []), at]);
        ({ last } = slot);
      }
      const end = page.objects.at(-1)?.key;
      if (!page.more || end === undefined) return { ops };
      after = end;
    }
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
