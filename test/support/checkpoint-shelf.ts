/**
 * Checkpoints and control entries as a test wants them: the records lie in the bucket, the states
 * that they stand for are held here, in the place of the objects that a real one is loaded from.
 */
import type { BlobStore } from '../../blob/blob.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { integrityError } from '../../bucketstore/base/errors.ts';
import { type Sequence, sequence } from '../../bucketstore/base/sequence.ts';
import { encodeCheckpointRecord } from '../../bucketstore/log/checkpoint-record.ts';
import type { CheckpointPlace } from '../../bucketstore/log/checkpoints.ts';
import { checkpointKey, LOG_PREFIX } from '../../bucketstore/log/names.ts';
import type { CheckpointRecord, ControlEntry } from '../../bucketstore/log/records.ts';
import { decodeSlot } from '../../bucketstore/log/slot.ts';
import { recordOf } from '../../bucketstore/snapshot/checkpoint-state.ts';
import type { CheckpointSource } from '../../bucketstore/snapshot/load.ts';
import type { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import { atCheckpoint } from './map-base.ts';
import type { BenchStore, WorldBench } from './world-bench.ts';

/** A control entry without its operation ID, which is drawn. */
type Unsigned<E> = E extends ControlEntry ? Omit<E, 'op'> : never;

export class CheckpointShelf implements CheckpointSource {
  readonly #bench: WorldBench;
  readonly #states = new Map<string, Snapshot>();
  readonly #packed = new Map<string, Uint8Array>();
  readonly #bad = new Set<string>();
  #cleared: string | null = null;
  /** Keys of the records that were asked for, in order. */
  readonly loads: string[] = [];
  /** Sequences of the versions that packs were asked for, in order. */
  readonly packReads: Sequence[] = [];

  constructor(bench: WorldBench) {
    this.#bench = bench;
  }

  async load(record: CheckpointRecord): Promise<Snapshot> {
    const key = checkpointKey(record.sequence, record.root.epoch);
    this.loads.push(key);
    const state = this.#states.get(key);
    if (state === undefined || this.#bad.has(key)) throw integrityError(key, 'does not verify');
    return state;
  }

  async readPacked(at: Sequence, storedHash: string): Promise<Uint8Array | null> {
    this.packReads.push(at);
    return this.#packed.get(storedHash) ?? null;
  }

  /** All packs are known. */
  async readPackedAt(): Promise<Uint8Array | null> {
    return null;
  }

  /** From now on the state of a record cannot be loaded. */
  spoil({ sequence: at, epoch }: CheckpointPlace): void {
    this.#bad.add(checkpointKey(at, epoch));
  }

  /** From now on no pack holds anything. */
  unpack(): void {
    this.#packed.clear();
  }

  /** From now on packs hold other bytes than they should. */
  spoilPacks(): void {
    for (const hash of this.#packed.keys()) this.#packed.set(hash, Buffer.from('other bytes'));
  }

  /** The states of all checkpoints, as they are loaded. */
  states(): readonly Snapshot[] {
    return [...this.#states.values()];
  }

  /** A checkpoint of a store's tip: its state without slots, all inlined bytes, then the record. */
  async checkpoint({ parts }: BenchStore): Promise<CheckpointPlace> {
    const { identity, tip, control, documentCount } = parts.follower.snapshot;
    await this.#pack();
    const root = { epoch: control.epoch, hash: sha256Hex(Buffer.from(tip.hash)) };
    const swept = { plan: this.#cleared, pruned: 0, retained: documentCount };
    const record = recordOf(identity, tip, control, documentCount, root, swept);
    const key = checkpointKey(tip.sequence, root.epoch);
    this.#states.set(key, atCheckpoint(parts.follower.snapshot));
    await this.#bench.bucket.create(key, encodeCheckpointRecord(record));
    return { sequence: tip.sequence, epoch: root.epoch };
  }

  /** Commits a control entry through a store. */
  async control({ parts }: BenchStore, entry: Unsigned<ControlEntry>): Promise<Sequence> {
    const op = this.#bench.random.uuid();
    const judge = () => ({ ...entry, op }) as ControlEntry;
    const at = await this.#bench.run(parts.committer.control(op, judge, { deadlineMs: 10_000 }));
    if (at === null) throw new Error('a control entry was asked for, and none was made');
    if (entry.kind === 'clear') this.#cleared = entry.plan;
    return at;
  }

  /** A barrier and its end: raises the epoch and names what stays alive. */
  async sweep(store: BenchStore, kept: readonly CheckpointPlace[]): Promise<void> {
    const plan = sha256Hex(Buffer.from(this.#bench.random.uuid()));
    const named = kept.map((one) => [one.sequence, one.epoch] as const);
    await this.control(store, { kind: 'barrier', plan, kept: named });
    await this.control(store, { kind: 'clear', plan });
  }

  /** Raises the floor and removes the slots below it, as a collector does after the grace. */
  async collect(store: BenchStore, at: number): Promise<void> {
    const { mutation } = store.parts.follower.snapshot.control;
    const last = sequence(Math.min(mutation, at - 1));
    await this.control(store, { kind: 'floor', at: sequence(at), mutation: last });
    await removeBelow(this.#bench, this.#bench.bucket, at);
  }

  async #pack(): Promise<void> {
    for (const key of await this.#bench.keys(LOG_PREFIX)) {
      const bytes = await this.#bench.bytes(key);
      for (const { hash, offset, length } of decodeSlot(key, bytes).slot.inlined) {
        this.#packed.set(hash, bytes.slice(offset, offset + length));
      }
    }
  }
}

async function removeBelow(bench: WorldBench, bucket: BlobStore, at: number): Promise<void> {
  for (const key of await bench.keys(LOG_PREFIX)) {
    const { slot } = decodeSlot(key, await bench.bytes(key));
    if (slot.last < at) await bucket.delete(key);
  }
}
