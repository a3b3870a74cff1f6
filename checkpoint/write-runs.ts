/** Writes the runs of one checkpoint: what changed, merged with the older runs that it joins. */
import type { Turn } from '../bucketstore/base/in-turns.ts';
import type { Sequence } from '../bucketstore/base/sequence.ts';
import { recordsOf, segmentsOf } from './changed-runs.ts';
import type { EncodedHistory } from './history.ts';
import { historyKey } from './history.ts';
import type { ChangedStates, ChangedVersions } from './intake.ts';
import type { RunMerger, RunSink, RunSource } from './merger.ts';
import type { ObjectWriter } from './object-writer.ts';
import type { ObjectReader } from './objects.ts';
import type { RunRef } from './root.ts';
import {
  encodeRunManifest,
  type RunKind,
  type RunManifest,
  runKey,
  runManifest,
  TABLE_KINDS,
} from './run-manifest.ts';
import type { RunStep } from './run-steps.ts';
import type { BuiltTable } from './table-builder.ts';
import { type TableRef, tableKey } from './table-directory.ts';

/** An object that a checkpoint names, written or kept, with its length. */
export interface NamedObject {
  readonly key: string;
  readonly size: number;
}

export interface RunWriterParts {
  readonly reader: ObjectReader;
  readonly writer: ObjectWriter;
  readonly merger: RunMerger;
  /** Taken every few milliseconds. */
  readonly turn: Turn;
  /** That everything is written in. */
  readonly epoch: number;
  readonly signal?: AbortSignal | undefined;
}

export class RunWriter {
  readonly #parts: RunWriterParts;
  /** Everything that the runs name. */
  readonly named: NamedObject[] = [];

  constructor(parts: RunWriterParts) {
    this.#parts = parts;
  }

  /** The run of documents that a step makes or keeps. */
  async run(step: RunStep<RunRef>, changed: ChangedStates | undefined): Promise<RunRef> {
    if (step.kind === 'kept') return this.#keep('run', step.run);
    const { turn } = this.#parts;
    const made = changed === undefined ? [] : await segmentsOf(changed, this.#parts, turn);
    return this.#make('run', step, made, []);
  }

  /** The run of version records that a step makes or keeps. */
  async records(step: RunStep<RunRef>, changed: ChangedVersions | undefined): Promise<RunRef> {
    if (step.kind === 'kept') return this.#keep('records', step.run);
    const { turn } = this.#parts;
    const { tables, closed } =
      changed === undefined
        ? { tables: [], closed: [] }
        : await recordsOf(changed, this.#parts, turn);
    return this.#make('records', step, tables, closed);
  }

  async #keep(kind: RunKind, ref: RunRef): Promise<RunRef> {
    const manifest = await this.#manifest(kind, ref);
    for (const table of manifest.objects) this.#nameTable(kind, table);
    return ref;
  }

  async #make(
    kind: RunKind,
    { interval, runs }: Extract<RunStep<RunRef>, { readonly kind: 'merged' }>,
    made: readonly BuiltTable[],
    closed: readonly EncodedHistory[],
  ): Promise<RunRef> {
    const older: RunManifest[] = [];
    for (const run of runs) older.push(await this.#manifest(kind, run));
    const filled = older.filter(({ objects }) => objects.length > 0);
    const [only] = filled;
    for (const block of closed) await this.#writeBlock(block);
    let objects: readonly TableRef[];
    if (only === undefined) objects = await this.#writeAll(kind, made);
    else if (filled.length === 1 && made.length === 0) objects = only.objects;
    else objects = await this.#merge(kind, filled, made);
    for (const table of objects) this.#nameTable(kind, table);
    return this.#writeManifest(runManifest(kind, interval, objects));
  }

  async #merge(
    kind: RunKind,
    older: readonly RunManifest[],
    made: readonly BuiltTable[],
  ): Promise<readonly TableRef[]> {
    const { merger, epoch, signal } = this.#parts;
    const written: TableRef[] = [];
    const sources = older.map((manifest) => this.#sourceOf(kind, manifest));
    if (made.length > 0) sources.push(sourceOf(made));
    const sink: RunSink = {
      table: async (table) => {
        written.push(await this.#writeTable(kind, table));
      },
      kept: async (run, table) => {
        const ref = sources[run]?.tables[table];
        if (ref === undefined) throw new RangeError(`no table ${table} of run ${run}`);
        const built = run < older.length ? undefined : made[table];
        written.push(built === undefined ? ref : await this.#writeTable(kind, built));
      },
      closed: (block) => this.#writeBlock(block),
    };
    await merger.merge(TABLE_KINDS[kind], sources, sink, { epoch, signal });
    return written;
  }

  #sourceOf(kind: RunKind, { objects }: RunManifest): RunSource {
    const { reader, signal } = this.#parts;
    return {
      tables: objects,
      read: async (table) => {
        const ref = objects[table];
        if (ref === undefined) throw new RangeError(`no table ${table}`);
        return reader.table(TABLE_KINDS[kind], ref, { signal, lane: 'bulk' });
      },
    };
  }

  async #writeAll(kind: RunKind, tables: readonly BuiltTable[]): Promise<readonly TableRef[]> {
    const written: TableRef[] = [];
    for (const table of tables) written.push(await this.#writeTable(kind, table));
    return written;
  }

  async #writeTable(kind: RunKind, { bytes, ref }: BuiltTable): Promise<TableRef> {
    const { writer, signal } = this.#parts;
    await writer.put(tableKey(TABLE_KINDS[kind], ref), bytes, { signal });
    return ref;
  }

  async #writeBlock({ bytes, ref }: EncodedHistory): Promise<void> {
    const { writer, signal } = this.#parts;
    const key = historyKey(ref);
    await writer.put(key, bytes, { signal });
    this.named.push({ key, size: bytes.length });
  }

  async #writeManifest(manifest: RunManifest): Promise<RunRef> {
    const { writer, epoch, signal } = this.#parts;
    const { bytes, ref } = encodeRunManifest(manifest, epoch);
    const key = runKey(ref);
    await writer.put(key, bytes, { signal });
    this.named.push({ key, size: bytes.length });
    return ref;
  }

  /** Read and hashed, so it is there. */
  #manifest(kind: RunKind, ref: RunRef): Promise<RunManifest> {
    const { reader, signal } = this.#parts;
    return reader.run(kind, ref, { signal, lane: 'bulk' });
  }

  #nameTable(kind: RunKind, ref: TableRef): void {
    this.named.push({ key: tableKey(TABLE_KINDS[kind], ref), size: ref.bytes });
  }
}

/** Tables that were just made, as a run. */
function sourceOf(tables: readonly BuiltTable[]): RunSource {
  return {
    tables: tables.map(({ ref }) => ref),
    read: async (table) => {
      const built = tables[table];
      if (built === undefined) throw new RangeError(`no table ${table}`);
      return built.bytes;
    },
  };
}

/** Where a step's changes are, by the end of their stretch. */
export function changedAt<C extends ChangedStates | ChangedVersions>(
  changes: readonly C[],
  step: RunStep<RunRef>,
): C | undefined {
  const slots = step.kind === 'merged' ? step.slots : null;
  const through: Sequence | undefined = slots?.through;
  return changes.find(({ interval }) => interval.through === through);
}
