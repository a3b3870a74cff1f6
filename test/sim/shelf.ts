/**
 * The states of the checkpoints that were written, held by the simulation itself: what stands for
 * runs, segments and packs until those exist. Shared by all stores, as the bucket is.
 */
import { integrityError } from '../../bucketstore/base/errors.ts';
import { checkpointKey } from '../../bucketstore/log/names.ts';
import type { CheckpointRecord } from '../../bucketstore/log/records.ts';
import type { CheckpointSource } from '../../bucketstore/snapshot/load.ts';
import type { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import { decodeSlot } from '../oracle/objects.ts';
import { atCheckpoint } from '../support/map-base.ts';

export class Shelf {
  readonly #states = new Map<string, Snapshot>();
  readonly #packed = new Map<string, Uint8Array>();
  /** Records that no store can load. */
  readonly #bad = new Set<string>();
  /** Plans that were cleared, by sequence. */
  readonly #cleared = new Map<number, string>();
  #packedThrough = 0;

  /** Keeps the stored versions of a slot that landed. */
  keepSlot(key: string, bytes: Uint8Array): void {
    const slot = decodeSlot(key, bytes);
    const [first] = slot.entries;
    if (first?.kind === 'clear') this.#cleared.set(slot.first, first.plan ?? '');
    for (const stored of slot.inlined.values()) {
      const entry = slot.entries.find(({ sequence }) => slot.inlined.get(sequence) === stored);
      if (entry?.stored_hash !== undefined) this.#packed.set(entry.stored_hash, stored);
    }
  }

  /** Keeps the state of a record before it is created. @param bad its loading will fail */
  put(record: CheckpointRecord, state: Snapshot, bad: boolean): void {
    const key = checkpointKey(record.sequence, record.root.epoch);
    this.#states.set(key, atCheckpoint(state));
    if (bad) this.#bad.add(key);
    this.#packedThrough = Math.max(this.#packedThrough, record.sequence);
  }

  /** The plan that was cleared last, up to a sequence. */
  clearedBy(through: number): string | null {
    const sequences = [...this.#cleared.keys()].filter((sequence) => sequence <= through);
    return this.#cleared.get(Math.max(...sequences)) ?? null;
  }

  isBad(key: string): boolean {
    return this.#bad.has(key);
  }

  /** What a store is given. */
  source(): CheckpointSource {
    return {
      load: async (record) => {
        const key = checkpointKey(record.sequence, record.root.epoch);
        const state = this.#states.get(key);
        if (state === undefined || this.#bad.has(key)) throw integrityError(key, 'does not verify');
        return state;
      },
      readPacked: async (at, storedHash) => {
        return at <= this.#packedThrough ? (this.#packed.get(storedHash) ?? null) : null;
      },
    };
  }
}
