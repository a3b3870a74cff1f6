/**
 * The checkpoints of a world as verification finds them: which records there are, which of them
 * count, and what their roots name.
 */
import type { BlobStore } from '../blob/index.ts';
import { isStoreError } from '../bucketstore/base/errors.ts';
import { readAhead } from '../bucketstore/base/read-ahead.ts';
import { type Sequence, sequence } from '../bucketstore/base/sequence.ts';
import { belongs, type ChainIdentity, follows } from '../bucketstore/log/chain.ts';
import { decodeCheckpointRecord } from '../bucketstore/log/checkpoint-record.ts';
import { bucketFailure } from '../bucketstore/log/failure.ts';
import type { Log } from '../bucketstore/log/log.ts';
import { CHECKPOINTS_PREFIX, parseKey } from '../bucketstore/log/names.ts';
import type { CheckpointRecord } from '../bucketstore/log/records.ts';
import { controlAfter } from '../bucketstore/snapshot/apply.ts';
import { controlOf, counts, tipOf } from '../bucketstore/snapshot/checkpoint-state.ts';
import type { ControlState } from '../bucketstore/snapshot/state.ts';
import { type Root, rootKey } from './root.ts';
import type { VerifyObjects } from './verify-objects.ts';

/** A checkpoint that counts, and its record is one. */
export interface FoundCheckpoint {
  readonly key: string;
  readonly record: CheckpointRecord;
}

export interface FoundCheckpoints {
  /** Ascending. */
  readonly live: readonly FoundCheckpoint[];
  /** Records that do not count any more: what they name may be gone. */
  readonly dead: number;
  /** Records of an earlier life of the location. */
  readonly earlier: number;
}

export interface FindParts {
  readonly bucket: BlobStore;
  readonly log: Log;
  readonly objects: VerifyObjects;
  readonly identity: ChainIdentity;
  readonly signal?: AbortSignal | undefined;
}

const LIST_LIMIT = 1000;
const READ_AHEAD = 16;

/**
 * Lists and reads the records. One list for a thousand, one `get` for each, and one for each slot
 * behind the newest: which count is for the latest barrier to say.
 */
export async function findCheckpoints(parts: FindParts): Promise<FoundCheckpoints> {
  const { bucket, objects, identity, signal } = parts;
  const found: FoundCheckpoint[] = [];
  const names = { earlier: 0 };
  const read = async (key: string) => {
    try {
      const got = await bucket.get(key, { signal, lane: 'bulk' });
      return { key, bytes: got.found ? got.bytes : null, error: null };
    } catch (error) {
      return { key, bytes: null, error: bucketFailure(error) };
    }
  };
  for await (const { key, bytes, error } of readAhead(recordKeys(parts, names), READ_AHEAD, read)) {
    objects.named.add(key);
    try {
      if (error !== null) throw error;
      // Collected since it was listed.
      if (bytes === null) continue;
      const record = decodeCheckpointRecord(key, bytes);
      const problem = belongs(identity, record);
      if (problem === null) found.push({ key, record });
      else objects.note(key, problem);
    } catch (failure) {
      objects.noteError(failure, key);
    }
  }
  const [newest] = found;
  if (newest === undefined) return { live: [], dead: 0, ...names };
  const control = await controlNow(parts, newest.record);
  const live = found.filter(({ record }) => counts(control, placeOf(record)));
  return { live: live.reverse(), dead: found.length - live.length, ...names };
}

/**
 * The root of a checkpoint; null when it is not right, or of another sequence, which is noted.
 */
export async function rootOf(
  objects: VerifyObjects,
  { record }: FoundCheckpoint,
): Promise<Root | null> {
  const root = await objects.root(record.root);
  if (root === null || root.sequence === record.sequence) return root;
  const problem = `sequence: ${root.sequence}, the checkpoint is of ${record.sequence}`;
  objects.note(rootKey(record.root), problem);
  return null;
}

/** What a record's name says of it. */
function placeOf({ sequence: at, root }: CheckpointRecord): {
  readonly sequence: Sequence;
  readonly epoch: number;
} {
  return { sequence: at, epoch: root.epoch };
}

/** Keys of records of this life, newest first. */
async function* recordKeys(
  { bucket, objects, signal }: FindParts,
  names: { earlier: number },
): AsyncGenerator<string> {
  let after: string | undefined;
  for (;;) {
    const query = { prefix: CHECKPOINTS_PREFIX, after, limit: LIST_LIMIT };
    const page = await bucket.list(query, { signal, lane: 'bulk' });
    for (const { key } of page.objects) {
      const name = parseKey(key);
      if (name?.kind !== 'checkpoint') {
        objects.note(key, 'is no checkpoint’s name; nothing else belongs under checkpoints/');
      } else if (name.sequence <= objects.life.sequence) {
        objects.named.add(key);
        names.earlier += 1;
      } else {
        yield key;
      }
    }
    after = page.objects.at(-1)?.key;
    if (!page.more || after === undefined) return;
  }
}

/** Control state at the end of the log, as far as it can be followed from a record. */
async function controlNow(
  { log, signal }: FindParts,
  record: CheckpointRecord,
): Promise<ControlState> {
  let control = controlOf(record);
  let end: Parameters<typeof follows>[0] = tipOf(record);
  try {
    const read = (name: Sequence) => log.read(name, { signal, lane: 'bulk' });
    for await (const names of log.names(sequence(end.sequence + 1), signal)) {
      for await (const { read: found } of readAhead(names, READ_AHEAD, read)) {
        if (found === null || follows(end, found.slot) !== null) continue;
        const { slot, hash } = found;
        end = { sequence: slot.last, hash, time: slot.time };
        const [entry] = slot.entries;
        if (entry === undefined || entry.kind === 'write' || entry.kind === 'archive') continue;
        const next = controlAfter(control, entry, slot.first);
        if (typeof next !== 'string') control = next;
      }
    }
  } catch (error) {
    // What is wrong with a slot, the replay finds and names.
    const failure = bucketFailure(error);
    if (!isStoreError(failure) || failure.code !== 'INTEGRITY') throw failure;
  }
  return control;
}
