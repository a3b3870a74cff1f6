/**
 * Makes checkpoints: from the newest one that counts to the tip, in bounded steps that end at the
 * same slots whoever makes them. Needs no lease: compactors that race from one checkpoint write the
 * same bytes, whoever loses the record's create goes on from the winner's, and one that dies has
 * cost nothing but its own work.
 */
import type { BlobStore, CallOptions } from '../blob/index.ts';
import type { Clock } from '../bucketstore/base/clock.ts';
import type { Logger } from '../bucketstore/base/diagnostics.ts';
import { integrityError, isStoreError } from '../bucketstore/base/errors.ts';
import type { Random } from '../bucketstore/base/random.ts';
import type { Sequence } from '../bucketstore/base/sequence.ts';
import { belongs } from '../bucketstore/log/chain.ts';
import type { CheckpointPlace, Checkpoints } from '../bucketstore/log/checkpoints.ts';
import type { Log, ReadSlot } from '../bucketstore/log/log.ts';
import { checkpointKey } from '../bucketstore/log/names.ts';
import type { CheckpointRecord } from '../bucketstore/log/records.ts';
import { counts } from '../bucketstore/snapshot/checkpoint-state.ts';
import type { Snapshot } from '../bucketstore/snapshot/snapshot.ts';
import { readStep, readUnpacked, STEP_BOUNDS, type StepBounds } from './backlog.ts';
import type { CheckpointLoader } from './load.ts';
import { ObjectWriter } from './object-writer.ts';
import { ObjectReader } from './objects.ts';
import type { LifeStart } from './root.ts';
import type { CheckpointBelow } from './step.ts';
import { recordObject, writeCheckpoint } from './write.ts';

export interface CompactorParts {
  readonly bucket: BlobStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly log: Log;
  readonly checkpoints: Checkpoints;
  readonly loader: CheckpointLoader;
  readonly life: LifeStart;
  /** The state that the marker starts from. */
  readonly start: (options: CallOptions) => Promise<Snapshot>;
  /** The state after every commit that was acknowledged before the call. */
  readonly atTip: (options: CallOptions) => Promise<Snapshot>;
  /** Told of each checkpoint that was found or made, as a state. */
  readonly onCheckpoint: (checkpoint: Snapshot) => void;
  /** The format has no say in it; others are for proofs. */
  readonly bounds?: StepBounds | undefined;
}

/** What a compaction came to. */
export interface Compacted {
  /** The newest checkpoint that counts now; null while there is none. */
  readonly newest: CheckpointPlace | null;
  /** Checkpoints that were written here. */
  readonly written: number;
}

export class Compactor {
  readonly #parts: CompactorParts;
  readonly #reader: ObjectReader;
  readonly #writer: ObjectWriter;

  constructor(parts: CompactorParts) {
    const { bucket, clock, random } = parts;
    this.#parts = parts;
    this.#reader = new ObjectReader({ bucket, lane: 'bulk' });
    this.#writer = new ObjectWriter({ bucket, clock, random });
  }

  /**
   * Makes checkpoints up to the tip of now; none when there is nothing behind the newest.
   * @throws StoreError `INTEGRITY` naming what is damaged; `UNAVAILABLE`, `LOCATION`, `SEALED`;
   *   whatever of it, nothing that counts has changed
   */
  async compact(options: Pick<CallOptions, 'signal'> = {}): Promise<Compacted> {
    const { sequence: target } = (await this.#parts.atTip(options)).tip;
    /** Records of others that do not verify: another slot end is taken. */
    const taken = new Set<string>();
    for (let written = 0; ; ) {
      options.signal?.throwIfAborted();
      const { control } = await this.#parts.atTip(options);
      const { below, place } = await this.#newest(control, options);
      if (place !== null) this.#parts.onCheckpoint(below.snapshot);
      const slots = await this.#step(below, target, { epoch: control.epoch, taken }, options);
      if (slots.length === 0) return { newest: place, written };
      const { epoch } = control;
      const record = await this.#write(below, slots, epoch, options);
      // Behind a barrier what was written may be condemned: it starts again.
      if ((await this.#parts.atTip(options)).control.epoch !== epoch) continue;
      if (await this.#create(record, taken, options)) written += 1;
    }
  }

  /** The newest checkpoint that counts and verifies, or the start. */
  async #newest(
    control: Parameters<typeof counts>[0],
    options: CallOptions,
  ): Promise<{ readonly below: CheckpointBelow; readonly place: CheckpointPlace | null }> {
    const { checkpoints, loader, logger, life } = this.#parts;
    const start = await this.#parts.start(options);
    for await (const place of checkpoints.all(options)) {
      if (place.sequence <= start.tip.sequence) break;
      if (!counts(control, place)) continue;
      try {
        const record = await checkpoints.read(place, options);
        if (record === null) continue;
        const problem = belongs(start.identity, record);
        if (problem !== null) throw integrityError(keyOf(place), problem);
        const snapshot = await loader.load(record, { ...options, lane: 'bulk' });
        const root = await this.#reader.root(record.root, life, options);
        return { below: { snapshot, root, swept: record.swept }, place };
      } catch (error) {
        if (!isStoreError(error) || error.code !== 'INTEGRITY') throw error;
        logger.warn({ object: keyOf(place), err: error }, 'checkpoint not built on: not verified');
      }
    }
    const swept = { plan: null, pruned: 0, retained: start.documentCount };
    return { below: { snapshot: start, root: null, swept }, place: null };
  }

  /** The slots of the next step; none when there is nothing to do. */
  async #step(
    { snapshot }: CheckpointBelow,
    target: Sequence,
    { epoch, taken }: { readonly epoch: number; readonly taken: ReadonlySet<string> },
    options: CallOptions,
  ): Promise<readonly ReadSlot[]> {
    if (snapshot.tip.sequence >= target) return [];
    const { log, bounds = STEP_BOUNDS } = this.#parts;
    let slots = await readStep(log, snapshot.tip, target, bounds, options);
    for (let last = slots.at(-1); last !== undefined; last = slots.at(-1)) {
      if (!taken.has(checkpointKey(last.slot.last, epoch))) break;
      slots = slots.slice(0, -1);
    }
    return slots;
  }

  async #write(
    below: CheckpointBelow,
    slots: readonly ReadSlot[],
    epoch: number,
    { signal }: CallOptions,
  ): Promise<CheckpointRecord> {
    const { bucket, life, log } = this.#parts;
    const { tip } = below.snapshot;
    const packedThrough = below.root?.packedThrough ?? life.sequence;
    const unpacked = await readUnpacked(log, tip, packedThrough, { signal });
    const parts = { bucket, reader: this.#reader, writer: this.#writer, life };
    return writeCheckpoint(parts, { below, slots, unpacked, epoch, signal });
  }

  /** @returns whether the record is there as it was written here, whoever wrote it */
  async #create(
    record: CheckpointRecord,
    taken: Set<string>,
    options: Pick<CallOptions, 'signal'>,
  ): Promise<boolean> {
    const { key, bytes } = recordObject(record);
    try {
      return (await this.#writer.put(key, bytes, options)) === 'created';
    } catch (error) {
      if (!isStoreError(error) || error.code !== 'INTEGRITY') throw error;
      // Another's: it is built on if it verifies, and never written over.
      taken.add(key);
      return false;
    }
  }
}

function keyOf({ sequence, epoch }: CheckpointPlace): string {
  return checkpointKey(sequence, epoch);
}
