/**
 * The objects of checkpoints as verification reads them: whole, every byte hashed, everything in
 * them decoded, and held against what names them. What is wrong is noted once for each object.
 */
import type { BlobStore, CallOptions } from '../blob/index.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { integrityProblem, type Problems } from '../bucketstore/log/problems.ts';
import type { VersionRecord } from '../bucketstore/snapshot/state.ts';
import { ColumnsBuilder } from './columns.ts';
import { readColumns } from './columns-reader.ts';
import { type HistoryRef, historyKey } from './history.ts';
import { decodeIndexEntry } from './index-entry.ts';
import { type DecodeOldHistory, ObjectReader, readRange } from './objects.ts';
import { decodePack, type PackRef, packKey } from './pack.ts';
import type { PackDirectory } from './pack-directory.ts';
import { decodeRecordEntry } from './record-entry.ts';
import { type LifeStart, type Root, type RootRef, type RunRef, rootKey } from './root.ts';
import { type RunKind, type RunManifest, runKey } from './run-manifest.ts';
import { columnsOf, entriesOf, type OpenedTable, openTable, verifyTable } from './table.ts';
import { type TableKind, type TableRef, tableKey } from './table-directory.ts';

export interface VerifyObjectsParts {
  readonly bucket: BlobStore;
  readonly life: LifeStart;
  readonly problems: Problems;
  readonly decodeOldHistory?: DecodeOldHistory | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told after each object. */
  readonly onObject: () => void;
}

/** One object that was read. */
type Reading<T> = (options: CallOptions) => Promise<T>;

export class VerifyObjects {
  /** Keys of all objects that something has named, whatever is in their place. */
  readonly named: Set<string> = new Set();
  /** Objects that were read and are right. */
  read = 0;
  readonly #parts: VerifyObjectsParts;
  readonly #reader: ObjectReader;
  /** Keys of those. */
  readonly #right = new Set<string>();
  /** Keys of those whose problem has been noted. */
  readonly #wrong = new Set<string>();

  constructor(parts: VerifyObjectsParts) {
    const { bucket, decodeOldHistory } = parts;
    this.#parts = parts;
    this.#reader = new ObjectReader({ bucket, lane: 'bulk', decodeOldHistory });
  }

  /** How the life began, by which roots are judged. */
  get life(): LifeStart {
    return this.#parts.life;
  }

  /** Notes what is wrong with an object, once for each. */
  note(key: string, problem: string): void {
    if (this.#wrong.has(key)) return;
    this.#wrong.add(key);
    this.#parts.problems.note(key, problem);
  }

  /** Notes what an integrity error says. @throws anything else */
  noteError(error: unknown, key: string): void {
    const { object, problem } = integrityProblem(error, key);
    this.note(object, problem);
  }

  root(ref: RootRef): Promise<Root | null> {
    const { life } = this.#parts;
    return this.#read(rootKey(ref), (options) => this.#reader.root(ref, life, options));
  }

  run(kind: RunKind, ref: RunRef): Promise<RunManifest | null> {
    return this.#read(runKey(ref), (options) => this.#reader.run(kind, ref, options));
  }

  /** A table, also what cannot be seen in it without its entries; null when it is not right. */
  table(kind: TableKind, ref: TableRef): Promise<OpenedTable | null> {
    const key = tableKey(kind, ref);
    return this.#read(key, async (options) => {
      // A byte more, so that a longer object is not taken for it.
      const bytes = await readRange(this.#parts.bucket, key, [0, ref.bytes + 1], options);
      if (bytes === null) throw missing(key);
      if (this.#right.has(key)) return openTable(kind, ref, bytes);
      const table = verifyTable(kind, ref, bytes);
      if (kind === 'segment') checkColumns(table);
      else checkRecords(table);
      return table;
    });
  }

  /** The records of a history block, ascending; null when it is not right. */
  history(path: string, ref: HistoryRef): Promise<readonly VersionRecord[] | null> {
    const read: Reading<readonly VersionRecord[]> = (options) => {
      return this.#reader.history(path, ref, options);
    };
    return this.#read(historyKey(ref), read);
  }

  /**
   * What is in a pack, every stored version held against its hash the first time; null when it is
   * not right.
   */
  pack(ref: PackRef): Promise<PackDirectory | null> {
    const key = packKey(ref);
    return this.#read(key, async (options) => {
      if (this.#right.has(key)) {
        const directory = await this.#reader.packDirectory(ref, options);
        if (directory === null) throw missing(key);
        return directory;
      }
      const bytes = await this.#reader.pack(ref, options);
      if (bytes === null) throw missing(key);
      const { ref: found, directory } = decodePack(ref, bytes);
      const problem = packRefProblem(found, ref);
      if (problem !== null) throw integrityError(key, problem);
      return directory;
    });
  }

  async #read<T>(key: string, read: Reading<T>): Promise<T | null> {
    const { signal, onObject } = this.#parts;
    signal?.throwIfAborted();
    this.named.add(key);
    try {
      const found = await read({ signal, lane: 'bulk' });
      if (!this.#right.has(key)) {
        this.#right.add(key);
        this.read += 1;
        onObject();
      }
      return found;
    } catch (error) {
      this.noteError(error, key);
      return null;
    }
  }
}

/** Columns are made of the entries beside them, to the byte. */
function checkColumns(table: OpenedTable): void {
  const { key, entries } = table.directory;
  const columns = columnsOf(table);
  readColumns(key, entries, columns);
  const builder = new ColumnsBuilder();
  const cursor = entriesOf(table);
  while (cursor.advance()) {
    const state = decodeIndexEntry(key, cursor.found());
    builder.add(state.path, state);
  }
  for (const [name, made] of builder.finish()) {
    const found = columns.get(name);
    if (found === undefined || Buffer.compare(found, made) !== 0) {
      throw integrityError(key, `column ${name}: not what the entries make`);
    }
  }
  if (table.directory.ranges.postings.length > 0) {
    throw integrityError(key, 'postings: there are none yet');
  }
}

function checkRecords(table: OpenedTable): void {
  const cursor = entriesOf(table);
  while (cursor.advance()) decodeRecordEntry(table.directory.key, cursor.found());
}

/** What a pack says otherwise than the root that names it, or null. */
function packRefProblem(found: PackRef, ref: PackRef): string | null {
  for (const name of ['bytes', 'first', 'last', 'versions'] as const) {
    if (found[name] !== ref[name]) return `${name}: ${found[name]}, the root says ${ref[name]}`;
  }
  const { length, hash } = ref.directory;
  const isSame = found.directory.length === length && found.directory.hash === hash;
  return isSame ? null : 'directory: not the one that the root names';
}

function missing(key: string): Error {
  return integrityError(key, 'missing, and a checkpoint names it');
}
