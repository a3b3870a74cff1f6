/**
 * Checkpoints as a test wants them: the objects of the state at any sequence of a log, made from
 * the entries and from states replayed one by one, and not by the merges that a compactor uses.
 */
import type { BlobStore } from '../../blob/blob.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { compareUtf8 } from '../../bucketstore/base/order.ts';
import { type Sequence, sequence } from '../../bucketstore/base/sequence.ts';
import { encodeCheckpointRecord } from '../../bucketstore/log/checkpoint-record.ts';
import { genesisMarker } from '../../bucketstore/log/marker.ts';
import { checkpointKey } from '../../bucketstore/log/names.ts';
import type { CheckpointRecord, Entry, Inlined, Slot } from '../../bucketstore/log/records.ts';
import { applyEntry } from '../../bucketstore/snapshot/apply.ts';
import { recordOf } from '../../bucketstore/snapshot/checkpoint-state.ts';
import { SnapshotDraft } from '../../bucketstore/snapshot/draft.ts';
import { type Identity, Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import type { DocumentState, VersionRecord } from '../../bucketstore/snapshot/state.ts';
import { nextBasePosition } from '../../checkpoint/base-positions.ts';
import { ColumnsBuilder } from '../../checkpoint/columns.ts';
import type { CutSizes } from '../../checkpoint/cut.ts';
import { historyKey } from '../../checkpoint/history.ts';
import { encodeIndexEntry } from '../../checkpoint/index-entry.ts';
import type { Interval } from '../../checkpoint/interval.ts';
import { recordEntryOf } from '../../checkpoint/merge-records.ts';
import { type PackRef, packKey } from '../../checkpoint/pack.ts';
import { PackCutter } from '../../checkpoint/pack-cutter.ts';
import { packedThroughAt } from '../../checkpoint/packing.ts';
import { planRecords, planRuns } from '../../checkpoint/plan.ts';
import { encodeRecordEntry } from '../../checkpoint/record-entry.ts';
import {
  encodeRoot,
  type LifeStart,
  type Root,
  type RunRef,
  rootKey,
} from '../../checkpoint/root.ts';
import { RunBuilder } from '../../checkpoint/run-builder.ts';
import {
  encodeRunManifest,
  type RunKind,
  runKey,
  runManifest,
  TABLE_KINDS,
} from '../../checkpoint/run-manifest.ts';
import type { BuiltTable } from '../../checkpoint/table-builder.ts';
import { tableKey } from '../../checkpoint/table-directory.ts';

interface Logged {
  readonly at: Sequence;
  readonly entry: Entry;
  /** What it inlines. */
  readonly stored: Uint8Array | null;
  /** The state after it. */
  readonly state: Snapshot;
}

/** Entries, and the state after each. Sequences may leave some out: nobody counts them here. */
export class EntryLog {
  readonly start: Snapshot;
  readonly #logged: Logged[] = [];

  constructor({ worldId, incarnationId }: Identity) {
    this.start = Snapshot.atStart(genesisMarker(worldId, incarnationId), sha256Hex('marker'));
  }

  /** How this life began, with nothing. */
  get life(): LifeStart {
    return { sequence: this.start.tip.sequence, documents: 0, epoch: 1, hasRoot: false };
  }

  /** The state at the end. */
  get end(): Snapshot {
    return this.#logged.at(-1)?.state ?? this.start;
  }

  /** The state at a sequence. */
  state(at: number): Snapshot {
    return this.#logged.findLast((logged) => logged.at <= at)?.state ?? this.start;
  }

  within({ after, through }: Interval): readonly Logged[] {
    return this.#logged.filter(({ at }) => at > after && at <= through);
  }

  /** @returns whether it can follow: else nothing has changed */
  add(at: number, entry: Entry, stored: Uint8Array | null = null): boolean {
    const inlined: Inlined[] = [];
    if (stored !== null) {
      const { length } = stored;
      inlined.push({ sequence: sequence(at), hash: sha256Hex(stored), offset: 0, length });
    }
    const draft = new SnapshotDraft(this.end);
    if (applyEntry(draft, entry, sequence(at)) !== null) return false;
    const [first, last] = [sequence(at), sequence(at)];
    draft.endSlot({ first, last, inlined, time: at } as unknown as Slot, sha256Hex(`slot ${at}`));
    this.#logged.push({ at: sequence(at), entry, stored, state: draft.freeze() });
    return true;
  }

  /** A slot that was read. @param bytes the object */
  addSlot(slot: Slot, bytes: Uint8Array): void {
    const draft = new SnapshotDraft(this.end);
    for (const [index, entry] of slot.entries.entries()) {
      const at = sequence(slot.first + index);
      const refusal = applyEntry(draft, entry, at);
      if (refusal !== null) throw new Error(`entry ${at}: ${refusal}`);
      if (at === slot.last) draft.endSlot(slot, sha256Hex(bytes));
      const inlined = slot.inlined.find((one) => one.sequence === at);
      const { offset = 0, length = 0 } = inlined ?? {};
      const stored = inlined === undefined ? null : bytes.slice(offset, offset + length);
      this.#logged.push({ at, entry, stored, state: draft.freeze() });
    }
  }
}

export interface CheckpointOptions {
  readonly epoch?: number;
  /** Of tables. Default the format's. */
  readonly sizes?: CutSizes;
  /** As the first thing of a life: a base and nothing else, and no record. */
  readonly asStart?: boolean;
}

export interface WrittenCheckpoint {
  readonly record: CheckpointRecord;
  readonly root: Root;
  /** Keys of all objects but the record, the root last. */
  readonly keys: readonly string[];
}

/** Writes what the checkpoint at a sequence consists of, and then its record. */
export async function writeCheckpoint(
  bucket: BlobStore,
  log: EntryLog,
  through: number,
  options: CheckpointOptions = {},
): Promise<WrittenCheckpoint> {
  return new Writer(bucket, log, sequence(through), options).write();
}

class Writer {
  readonly #bucket: BlobStore;
  readonly #log: EntryLog;
  readonly #through: Sequence;
  readonly #epoch: number;
  readonly #options: CheckpointOptions;
  readonly #keys: string[] = [];

  constructor(bucket: BlobStore, log: EntryLog, through: Sequence, options: CheckpointOptions) {
    this.#bucket = bucket;
    this.#log = log;
    this.#through = through;
    this.#epoch = options.epoch ?? 1;
    this.#options = options;
  }

  async write(): Promise<WrittenCheckpoint> {
    const state = this.#log.state(this.#through);
    const life = this.#life(state);
    const base = this.#base(life);
    const { sequence: start, hasRoot: startHasRoot } = life;
    const through = this.#through;
    const runs = planRuns({ base: base.position, through });
    const records = planRecords({ start, startHasRoot, through });
    const packedThrough = packedThroughAt(start, through);
    const root: Root = {
      sequence: through,
      packedThrough,
      base,
      runs: await this.#each(runs, (interval) => this.#run(interval)),
      records: await this.#each(records, (interval) => this.#records(interval)),
      packs: await this.#packs(packedThrough),
    };
    const { bytes, ref } = encodeRoot(root, this.#epoch, life);
    await this.#put(rootKey(ref), bytes);
    const { documentCount: documents, tip, control } = state;
    const swept = { plan: null, pruned: 0, retained: documents };
    const end = { ...tip, sequence: through };
    const record = recordOf(state.identity, end, control, documents, ref, swept);
    const keys = [...this.#keys];
    if (this.#options.asStart !== true) {
      await this.#put(checkpointKey(through, ref.epoch), encodeCheckpointRecord(record));
    }
    return { record, root, keys };
  }

  #life({ documentCount: documents }: Snapshot): LifeStart {
    if (this.#options.asStart !== true) return this.#log.life;
    return { sequence: this.#through, documents, epoch: this.#epoch, hasRoot: true };
  }

  /** The last base at or before the sequence. */
  #base({ sequence: position, documents }: LifeStart): Root['base'] {
    let base: Root['base'] = { position, documents };
    for (;;) {
      const next = nextBasePosition(base);
      if (next > this.#through) return base;
      base = { position: next, documents: this.#log.state(next).documentCount };
    }
  }

  async #each(
    intervals: readonly Interval[],
    write: (interval: Interval) => Promise<RunRef>,
  ): Promise<RunRef[]> {
    const refs: RunRef[] = [];
    for (const interval of intervals) refs.push(await write(interval));
    return refs;
  }

  /** The last state of each document that was changed in an interval. */
  async #run(interval: Interval): Promise<RunRef> {
    const states: DocumentState[] = [];
    for (const [path, document] of this.#log.state(interval.through).changed()) {
      const { at, details, first, archived } = document;
      if (at <= interval.after || details === null) continue;
      states.push({ path, ...details, first, archived });
    }
    const tables: BuiltTable[] = [];
    let from = 0;
    const end = (builder: Parameters<ConstructorParameters<typeof RunBuilder>[2]>[0]): void => {
      const columns = new ColumnsBuilder();
      const rows = states.slice(from, from + builder.entries);
      for (const { path, ...row } of rows) columns.add(path, row);
      from += rows.length;
      tables.push(builder.finish({ columns: columns.finish() }));
    };
    const run = new RunBuilder('segment', this.#epoch, end, this.#options.sizes);
    for (const state of states) {
      run.add(Buffer.from(state.path), encodeIndexEntry(state, this.#epoch));
    }
    run.end();
    return this.#manifest('run', interval, tables);
  }

  /** The versions made in an interval. */
  async #records(interval: Interval): Promise<RunRef> {
    const made = new Map<string, VersionRecord[]>();
    for (const { at, entry } of this.#log.within(interval)) {
      if (entry.kind !== 'write') continue;
      const { path, version, storedHash, bodyHash, modified } = entry;
      const place = entry.at === 'slot' ? { seq: at } : entry.at;
      const record = { version, storedHash, bodyHash, modified, at: place };
      made.set(path, [...(made.get(path) ?? []), record]);
    }
    const end = this.#log.state(interval.through);
    const tables: BuiltTable[] = [];
    const run = new RunBuilder(
      'records',
      this.#epoch,
      (builder) => tables.push(builder.finish()),
      this.#options.sizes,
    );
    for (const [path, records] of [...made].sort(([a], [b]) => compareUtf8(a, b))) {
      const first = end.head(path)?.first ?? 1;
      const { entry, closed } = recordEntryOf(path, first, records, this.#epoch);
      for (const { bytes, ref } of closed) await this.#put(historyKey(ref), bytes);
      run.add(Buffer.from(path), encodeRecordEntry(path, entry, this.#epoch));
    }
    run.end();
    return this.#manifest('records', interval, tables);
  }

  async #manifest(
    kind: RunKind,
    interval: Interval,
    tables: readonly BuiltTable[],
  ): Promise<RunRef> {
    const refs = tables.map(({ ref }) => ref);
    for (const { ref, bytes } of tables) {
      await this.#put(tableKey(TABLE_KINDS[kind], ref), bytes);
    }
    const { bytes, ref } = encodeRunManifest(runManifest(kind, interval, refs), this.#epoch);
    await this.#put(runKey(ref), bytes);
    return ref;
  }

  async #packs(through: Sequence): Promise<PackRef[]> {
    const cutter = new PackCutter(this.#epoch, 'unit');
    const refs: PackRef[] = [];
    const put = async (pack: ReturnType<PackCutter['finish']>): Promise<void> => {
      if (pack === null) return;
      refs.push(pack.ref);
      await this.#put(packKey(pack.ref), pack.bytes);
    };
    for (const { at, stored } of this.#log.within({ after: 0, through })) {
      if (stored === null) continue;
      const version = { sequence: at, storedHash: sha256Hex(stored), bytes: stored };
      await put(cutter.add(`slot ${at}`, version));
    }
    await put(cutter.finish());
    return refs;
  }

  async #put(key: string, bytes: Uint8Array): Promise<void> {
    if (!this.#keys.includes(key)) this.#keys.push(key);
    await this.#bucket.create(key, bytes);
  }
}
