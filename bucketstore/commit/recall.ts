/** The first answer of an operation that is in the log, read back from its slot. */
import type { CallOptions } from '../../blob/index.ts';
import { integrityError, StoreError } from '../base/errors.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { isMutation } from '../log/entry-rules.ts';
import { slotKey } from '../log/names.ts';
import type { ArchiveEntry, Slot, WriteEntry } from '../log/records.ts';
import type { BodyReader } from '../snapshot/body-reader.ts';
import type { Follower } from '../snapshot/follower.ts';
import { documentOf, infoOf } from '../snapshot/reader.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { VersionRecord } from '../snapshot/state.ts';
import { openStored } from '../snapshot/stored-version.ts';
import type { OperationPlace } from './operations.ts';
import type { MutationResult } from './result.ts';

export interface RecallParts {
  readonly follower: Follower;
  readonly bodies: BodyReader;
}

/** Where an operation's entry is said to be. */
export interface RecallPlace extends OperationPlace {
  readonly op: string;
}

/**
 * What an operation was answered with, for each mutation of its group. One `get` of its slot, and
 * one for each body that is not cached.
 * @param snapshot a state that holds the slot
 * @throws StoreError `TOO_OLD` when the slot is collected, or an archived version is retained no
 *   more; `INTEGRITY` when the slot does not hold the operation; `UNAVAILABLE`, `LOCATION`
 */
export async function recall(
  parts: RecallParts,
  snapshot: Snapshot,
  place: RecallPlace,
  options: CallOptions,
): Promise<readonly MutationResult[]> {
  const read = await parts.follower.slotAt(place.slot, options);
  if (read === null) {
    throw new StoreError(
      'TOO_OLD',
      `committed at ${place.sequence}, which is no longer in the log`,
    );
  }
  const results: MutationResult[] = [];
  const first = read.slot.entries[place.sequence - read.slot.first];
  const { op } = place;
  if (first === undefined || !isMutation(first) || first.op !== op) {
    throw integrityError(slotKey(place.slot), `does not hold operation ${op}`);
  }
  const count = groupSize(read.slot, place.sequence);
  for (let at = place.sequence; at < place.sequence + count; at = sequence(at + 1)) {
    const entry = read.slot.entries[at - read.slot.first];
    if (entry === undefined || !isMutation(entry)) {
      throw integrityError(slotKey(place.slot), `entry ${at} is no mutation`);
    }
    results.push(
      entry.kind === 'archive'
        ? await archiveResult(parts, snapshot, { ...entry, op }, at, options)
        : await writeResult(parts, snapshot, { ...entry, op }, at, options),
    );
  }
  return results;
}

function groupSize(slot: Slot, at: Sequence): number {
  const entry = slot.entries[at - slot.first];
  return entry !== undefined && isMutation(entry) ? (entry.group ?? 1) : 1;
}

async function writeResult(
  { bodies }: RecallParts,
  snapshot: Snapshot,
  entry: WriteEntry,
  at: Sequence,
  options: CallOptions,
): Promise<MutationResult> {
  const record: VersionRecord = { ...entry, at: entry.at === 'slot' ? { seq: at } : entry.at };
  const stored = await bodies.read(snapshot, record, options);
  const { body, metadata } = openStored(entry.path, record, stored);
  const document = documentOf(entry.path, record, false, metadata, body);
  return { committed: true, op: entry.op, sequence: at, document, pruned: null };
}

async function archiveResult(
  { bodies }: RecallParts,
  snapshot: Snapshot,
  entry: ArchiveEntry,
  at: Sequence,
  options: CallOptions,
): Promise<MutationResult> {
  const { path, op, archived, version } = entry;
  const record = await snapshot.version(path, version, options);
  if (record === undefined) {
    const gone = `version ${version} of ${path} is not retained any more`;
    throw new StoreError('TOO_OLD', `committed at ${at}; ${gone}`);
  }
  const now = await snapshot.document(path, options);
  const metadata =
    now?.current.version === version
      ? now.catalog.metadata
      : openStored(path, record, await bodies.read(snapshot, record, { ...options, path }))
          .metadata;
  return { committed: true, op, sequence: at, document: infoOf(path, record, archived, metadata) };
}
