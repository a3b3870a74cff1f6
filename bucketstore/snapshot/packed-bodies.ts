/**
 * Inlined versions whose slots are gone: which packs are looked into. The checkpoint that a state
 * rests on may be older than the one that had the slot collected, and packs are written anew, so
 * the roots of all checkpoints that count are asked, also of those that were never loaded.
 */
import type { CallOptions } from '../../blob/index.ts';
import type { Logger } from '../base/diagnostics.ts';
import { isStoreError } from '../base/errors.ts';
import type { Sequence } from '../base/sequence.ts';
import type { CheckpointPlace, Checkpoints } from '../log/checkpoints.ts';
import { checkpointKey } from '../log/names.ts';
import type { PackedSource } from './body-reader.ts';
import { counts } from './checkpoint-state.ts';
import type { CheckpointSource } from './load.ts';
import type { Snapshot } from './snapshot.ts';

export interface PackedParts {
  readonly source: CheckpointSource;
  readonly checkpoints: Checkpoints;
  readonly logger: Logger;
  /** The state of now: which checkpoints count. */
  readonly newest: (options: CallOptions) => Promise<Snapshot>;
}

export class PackedBodies implements PackedSource {
  readonly #parts: PackedParts;

  constructor(parts: PackedParts) {
    this.#parts = parts;
  }

  /**
   * As `PackedSource`. No more requests than a look into the packs of the roots that are known;
   * when none has it, a look at the tip, a list, and of each other checkpoint that counts and is
   * not before the sequence, newest first, its record, its root and one of its packs.
   * @throws StoreError `INTEGRITY` naming a pack that is damaged; `UNAVAILABLE`, `LOCATION`
   */
  async readPacked(
    at: Sequence,
    storedHash: string,
    options: CallOptions,
  ): Promise<Uint8Array | null> {
    const { source, checkpoints, newest } = this.#parts;
    const known = await source.readPacked(at, storedHash, options);
    if (known !== null) return known;
    const { control } = await newest(options);
    for await (const place of checkpoints.all(options)) {
      if (place.sequence < at) break;
      if (!counts(control, place)) continue;
      const bytes = await this.#readAt(place, at, storedHash, options);
      if (bytes !== null) return bytes;
    }
    return null;
  }

  /** One whose record or root is damaged, or gone, has nothing. */
  async #readAt(
    place: CheckpointPlace,
    at: Sequence,
    storedHash: string,
    options: CallOptions,
  ): Promise<Uint8Array | null> {
    const { source, checkpoints, logger } = this.#parts;
    try {
      const record = await checkpoints.read(place, options);
      return record === null ? null : await source.readPackedAt(record, at, storedHash, options);
    } catch (err) {
      if (!isStoreError(err) || err.code !== 'INTEGRITY') throw err;
      const object = checkpointKey(place.sequence, place.epoch);
      logger.warn({ object, err }, 'no stored version was found by this checkpoint: it is damaged');
      return null;
    }
  }
}
