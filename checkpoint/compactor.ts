/**
 * Makes checkpoints: from the newest one that counts to the tip, in bounded steps that end at the
 * same slots whoever makes them. Needs no lease: compactors that race from one checkpoint write the
 * same bytes, whoever loses the record's create goes on from the winner's, and one that dies has
 * cost nothing but its own work.
 */
import type { BlobStore, CallOptions } from '../blob/index.ts';
import { abortable } from '../bucketstore/base/abortable.ts';
import type { Clock } from '../bucketstore/base/clock.ts';
import type { Logger } from '../bucketstore/base/diagnostics.ts';
import { integrityError, isStoreError, StoreError } from '../bucketstore/base/errors.ts';
import type { Random } from '../bucketstore/base/random.ts';
import { belongs } from '../bucketstore/log/chain.ts';
import type { CheckpointPlace, Checkpoints } from '../bucketstore/log/checkpoints.ts';
import type { Log, ReadSlot } from '../bucketstore/log/log.ts';
import { checkpointKey, LOG_PREFIX } from '../bucketstore/log/names.ts';
import type { CheckpointRecord, Swept } from '../bucketstore/log/records.ts';
import { counts } from '../bucketstore/snapshot/checkpoint-state.ts';
import type { Snapshot } from '../bucketstore/snapshot/snapshot.ts';
import type { Tip } from '../bucketstore/snapshot/state.ts';
import { readStep, STEP_BOUNDS, type StepBounds } from './backlog.ts';
import type { CheckpointLoader } from './load.ts';
import type { RunMerger } from './merger.ts';
import { ObjectWriter } from './object-writer.ts';
import { ObjectReader } from './objects.ts';
import type { LifeStart } from './root.ts';
import { RunsState } from './runs-state.ts';
import type { CheckpointBelow } from './step.ts';
import { readUnitSlots } from './unit-slots.ts';
import { recordObject, writeCheckpoint } from './write.ts';

export interface CompactorParts {
  readonly bucket: BlobStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly log: Log;
  readonly checkpoints: Checkpoints;
  readonly loader: CheckpointLoader;
  /** Closed with the compactor. */
  readonly merger: RunMerger;
  readonly life: LifeStart;
  /** The state that the marker starts from. */
  readonly start: (options: CallOptions) => Promise<Snapshot>;
  /** The state after every commit that was acknowledged before the call. */
  readonly atTip: (options: CallOptions) => Promise<Snapshot>;
  /**
   * Told of each checkpoint that was found or made, as a state.
   * @throws StoreError `INTEGRITY` for one that must not be built on
   */
  readonly onCheckpoint: (
    checkpoint: Snapshot,
    options: Pick<CallOptions, 'signal'>,
  ) => Promise<void>;
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
  readonly #ended = new AbortController();
  /** The last one that was asked for: one at a time. */
  #last: Promise<void> = Promise.resolve();

  constructor(parts: CompactorParts) {
    const { bucket, clock, random } = parts;
    this.#parts = parts;
    this.#reader = new ObjectReader({ bucket, lane: 'bulk' });
    this.#writer = new ObjectWriter({ bucket, clock, random });
  }

  /**
   * Makes checkpoints up to the tip of now; none when there is nothing behind the newest. Waits for
   * one that is under way here.
   * @throws StoreError `INTEGRITY` naming what is damaged; `UNAVAILABLE`, `LOCATION`, `SEALED`;
   *   `CLOSED` when `close` ends it; whatever of it, nothing that counts has changed
   */
  compact(options: Pick<CallOptions, 'signal'> = {}): Promise<Compacted> {
    return this.#alone(options, (alone) => this.#compact(alone));
  }

  /**
   * Tells `onCheckpoint` of the newest checkpoint when that lies beyond a known one. One list when
   * it does not.
   * @returns it, or null
   * @throws StoreError `UNAVAILABLE`, `LOCATION`, `SEALED`, `CLOSED`
   */
  adopt(known: number, options: Pick<CallOptions, 'signal'> = {}): Promise<CheckpointPlace | null> {
    return this.#alone(options, async (alone) => {
      const listed = await this.#parts.checkpoints.newest(alone);
      if (listed.place === null || listed.place.sequence <= known) return null;
      const { control } = await this.#parts.atTip(alone);
      const { place } = await this.#newest(control, new Map(), alone);
      return place !== null && place.sequence > known ? place : null;
    });
  }

  /** Ends what is under way, and resolves when it has ended. Idempotent. */
  async close(): Promise<void> {
    this.#ended.abort(new StoreError('CLOSED', 'the store was closed; nothing has changed'));
    await this.#last;
    await this.#parts.merger.close();
  }

  /** Runs what is asked for when all that was asked for before has ended. */
  #alone<T>(
    { signal }: Pick<CallOptions, 'signal'>,
    work: (options: Pick<CallOptions, 'signal'>) => Promise<T>,
  ): Promise<T> {
    const ended = this.#ended.signal;
    const either = signal === undefined ? ended : AbortSignal.any([signal, ended]);
    const before = this.#last;
    const result = (async () => {
      await before;
      either.throwIfAborted();
      try {
        return await work({ signal: either });
      } catch (error) {
        // Whatever a call that was ended says of it.
        either.throwIfAborted();
        throw error;
      }
    })();
    this.#last = result.then(
      () => undefined,
      () => undefined,
    );
    // Who waits for another's compaction need not wait for its end.
    return abortable(result, either);
  }

  async #compact(options: Pick<CallOptions, 'signal'>): Promise<Compacted> {
    const { tip: target } = await this.#parts.atTip(options);
    /** Records that are there, whoever made them: one that does not verify is passed over. */
    const taken = new Set<string>();
    /** Checkpoints of which something turned out to be damaged, with what was told of it. */
    const bad = new Map<string, unknown>();
    for (let written = 0; ; ) {
      options.signal?.throwIfAborted();
      const { control } = await this.#parts.atTip(options);
      const { below, place } = await this.#newest(control, bad, options);
      const { epoch } = control;
      let record: CheckpointRecord;
      try {
        const slots = await this.#step(below, target, { epoch, taken }, options);
        if (slots.length === 0) return { newest: place, written };
        record = await this.#write(below, slots, epoch, options);
      } catch (error) {
        if (!isIntegrity(error)) throw error;
        // What was to be read may have been collected meanwhile.
        const { control: now } = await this.#parts.atTip(options);
        if (now.floor.at > control.floor.at) continue;
        const { object = '' } = error.details;
        // Slots that an older checkpoint lacks were there for the newer: that is what is damaged.
        if (place === null || object.startsWith(LOG_PREFIX)) throw [...bad.values(), error][0];
        this.#parts.logger.warn({ object, err: error }, 'checkpoint not built on: damaged');
        bad.set(keyOf(place), error);
        continue;
      }
      // Behind a barrier what was written may be condemned, and below a new floor what was read may
      // be another's: it starts again.
      const { control: now } = await this.#parts.atTip(options);
      if (now.epoch !== epoch || now.floor.at > control.floor.at) continue;
      if (await this.#create(record, taken, options)) written += 1;
    }
  }

  /** The newest checkpoint that counts and verifies, or the start. */
  async #newest(
    control: Parameters<typeof counts>[0],
    bad: ReadonlyMap<string, unknown>,
    options: CallOptions,
  ): Promise<{ readonly below: CheckpointBelow; readonly place: CheckpointPlace | null }> {
    const { checkpoints, loader, logger } = this.#parts;
    const start = await this.#parts.start(options);
    for await (const place of checkpoints.all(options)) {
      if (place.sequence <= start.tip.sequence) break;
      if (!counts(control, place) || bad.has(keyOf(place))) continue;
      try {
        const record = await checkpoints.read(place, options);
        if (record === null) continue;
        const problem = belongs(start.identity, record);
        if (problem !== null) throw integrityError(keyOf(place), problem);
        const snapshot = await loader.load(record, { ...options, lane: 'bulk' });
        await this.#parts.onCheckpoint(snapshot, options);
        return { below: below(snapshot, record.swept), place };
      } catch (error) {
        if (!isIntegrity(error)) throw error;
        logger.warn({ object: keyOf(place), err: error }, 'checkpoint not built on: not verified');
      }
    }
    const swept = { plan: null, pruned: 0, retained: start.documentCount };
    return { below: below(start, swept), place: null };
  }

  /** The slots of the next step; none when there is nothing to do. */
  async #step(
    { snapshot }: CheckpointBelow,
    target: Tip,
    { epoch, taken }: { readonly epoch: number; readonly taken: ReadonlySet<string> },
    options: CallOptions,
  ): Promise<readonly ReadSlot[]> {
    if (snapshot.tip.sequence >= target.sequence) return [];
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
    const { clock, life, log, logger, merger } = this.#parts;
    const { tip } = below.snapshot;
    const turn = async () => clock.turn?.();
    const parts = { reader: this.#reader, writer: this.#writer, merger, life, turn };
    return writeCheckpoint(parts, {
      ...{ below, slots, epoch, signal },
      readUnit: (unit) => readUnitSlots(log, tip, unit, { signal }),
      onStopped: async (unit, err) => {
        // Below the floor slots may be gone: then others know more than the checkpoint below.
        const { control: now } = await this.#parts.atTip({ signal });
        if (unit.after + 1 < now.floor.at) throw err;
        const { object } = isStoreError(err) ? err.details : {};
        logger.warn(
          { object, err, packedThrough: unit.after },
          'nothing behind is packed: damaged',
        );
      },
    });
  }

  /** @returns whether the record is there as it was written here, whoever wrote it */
  async #create(
    record: CheckpointRecord,
    taken: Set<string>,
    options: Pick<CallOptions, 'signal'>,
  ): Promise<boolean> {
    const { key, bytes } = recordObject(record);
    // Whoever made it, it is built on if it verifies, else passed over: it is never made again.
    taken.add(key);
    try {
      return (await this.#writer.put(key, bytes, options)) === 'created';
    } catch (error) {
      if (!isIntegrity(error)) throw error;
      return false;
    }
  }
}

/** A state without a root is a start with nothing. */
function below(snapshot: Snapshot, swept: Swept): CheckpointBelow {
  const { base } = snapshot;
  return { snapshot, root: base instanceof RunsState ? base.root : null, swept };
}

function isIntegrity(error: unknown): error is StoreError {
  return isStoreError(error) && error.code === 'INTEGRITY';
}

function keyOf({ sequence, epoch }: CheckpointPlace): string {
  return checkpointKey(sequence, epoch);
}
