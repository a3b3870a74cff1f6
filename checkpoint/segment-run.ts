/**
 * Segments out of documents in the order of their paths, entries and columns together. Holds one
 * segment, and those that were not finished yet.
 */
import { ColumnsBuilder } from './columns.ts';
import type { SegmentColumns } from './columns-reader.ts';
import type { CutSizes } from './cut.ts';
import { RunBuilder } from './run-builder.ts';
import type { BuiltTable, TableBuilder } from './table-builder.ts';
import type { EntryCursor } from './table-entry.ts';

/** Adds the row of the document whose entry was just added. */
type AddRow = (columns: ColumnsBuilder) => void;

/** A table that has all its entries: made in steps, of some milliseconds each. */
export type EndedTable = Generator<undefined, BuiltTable>;

export class SegmentRun {
  readonly #run: RunBuilder;
  readonly #onSegment: (segment: EndedTable) => void;
  #columns = new ColumnsBuilder();
  /**
   * The row of an entry that may not have been added yet: a segment may end before it or behind.
   */
  #row: AddRow | null = null;

  /**
   * @param epoch that the segments are written in
   * @param onSegment told of each segment that is complete, in order
   * @param sizes the format's; others are for proofs
   */
  constructor(epoch: number, onSegment: (segment: EndedTable) => void, sizes?: CutSizes) {
    this.#onSegment = onSegment;
    this.#run = new RunBuilder('segment', epoch, (builder) => this.#end(builder), sizes);
  }

  /** As of `RunBuilder`. */
  get isBetween(): boolean {
    return this.#run.isBetween;
  }

  /**
   * Adds a document.
   * @param path UTF-8
   * @param json its entry's
   */
  add(path: Uint8Array, json: Uint8Array, row: AddRow): void {
    this.#row = row;
    this.#run.add(path, json);
    this.#takeRow();
  }

  /** Adds the cursor's current entry and the row that its own segment has of it. */
  copy(cursor: EntryCursor, columns: SegmentColumns): void {
    const { row } = cursor;
    this.#row = (own) => own.gather(columns, row);
    this.#run.copy(cursor);
    this.#takeRow();
  }

  /** There are no more: ends the last segment, if there is one. */
  end(): void {
    this.#run.end();
  }

  #end(builder: TableBuilder): void {
    if (builder.entries > this.#columns.rows) this.#takeRow();
    const columns = this.#columns;
    this.#columns = new ColumnsBuilder();
    this.#onSegment(finishing(builder, columns));
  }

  #takeRow(): void {
    this.#row?.(this.#columns);
    this.#row = null;
  }
}

function* finishing(builder: TableBuilder, columns: ColumnsBuilder): EndedTable {
  const made = columns.finish();
  yield;
  return yield* builder.finishing({ columns: made });
}
