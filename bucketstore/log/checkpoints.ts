/**
 * Finding and reading checkpoint records. Their names count down, so the newest is listed first.
 */
import type { BlobStore, CallOptions } from '../../blob/index.ts';
import { integrityError } from '../base/errors.ts';
import type { Sequence } from '../base/sequence.ts';
import { decodeCheckpointRecord } from './checkpoint-record.ts';
import { bucketFailure } from './failure.ts';
import { CHECKPOINTS_PREFIX, checkpointKey, parseKey } from './names.ts';
import type { CheckpointRecord } from './records.ts';

/** What a record's name says. */
export interface CheckpointPlace {
  readonly sequence: Sequence;
  readonly epoch: number;
}

export interface Listed {
  /** null when there is none. */
  readonly place: CheckpointPlace | null;
  readonly date: number | undefined;
}

const LIST_LIMIT = 1000;

export class Checkpoints {
  readonly #bucket: BlobStore;

  constructor(bucket: BlobStore) {
    this.#bucket = bucket;
  }

  /** The name of the newest record, whether it counts or not. One list of one name. */
  async newest(options: CallOptions): Promise<Listed> {
    const page = await this.#list(undefined, 1, options);
    return { place: page.places[0] ?? null, date: page.date };
  }

  /** Names of records, newest first. One list for a thousand. */
  async *all(options: CallOptions): AsyncGenerator<CheckpointPlace> {
    let after: string | undefined;
    for (;;) {
      const page = await this.#list(after, LIST_LIMIT, options);
      yield* page.places;
      const last = page.places.at(-1);
      if (!page.more || last === undefined) return;
      after = checkpointKey(last.sequence, last.epoch);
    }
  }

  /**
   * The record of a name, or null when it is gone. One `get`.
   * @throws StoreError `INTEGRITY` when its bytes are no record of that name
   */
  async read(place: CheckpointPlace, options: CallOptions): Promise<CheckpointRecord | null> {
    const key = checkpointKey(place.sequence, place.epoch);
    try {
      const found = await this.#bucket.get(key, options);
      return found.found ? decodeCheckpointRecord(key, found.bytes) : null;
    } catch (error) {
      throw bucketFailure(error);
    }
  }

  async #list(
    after: string | undefined,
    limit: number,
    options: CallOptions,
  ): Promise<{ places: readonly CheckpointPlace[]; more: boolean; date: number | undefined }> {
    try {
      const query = { prefix: CHECKPOINTS_PREFIX, after, limit };
      const { objects, more, date } = await this.#bucket.list(query, options);
      return { places: objects.map(({ key }) => placeOf(key)), more, date };
    } catch (error) {
      throw bucketFailure(error);
    }
  }
}

function placeOf(key: string): CheckpointPlace {
  const name = parseKey(key);
  if (name?.kind === 'checkpoint') return { sequence: name.sequence, epoch: name.epoch };
  throw integrityError(key, 'is no checkpoint’s name; nothing else belongs under checkpoints/');
}
