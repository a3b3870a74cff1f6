/**
 * Builds the tables of one run out of its entries in order, each ended where the format says
 * (`cut.ts`). Holds one table.
 */
import { type CutSizes, TableCut } from './cut.ts';
import { TableBuilder } from './table-builder.ts';
import type { TableKind } from './table-directory.ts';
import { type EntryCursor, entryBytes } from './table-entry.ts';

export class RunBuilder {
  readonly #kind: TableKind;
  readonly #epoch: number;
  readonly #cut: TableCut;
  readonly #onEnd: (builder: TableBuilder) => void;
  #builder: TableBuilder;

  /**
   * @param epoch that the tables are written in
   * @param onEnd takes over a builder that holds the entries of one table, at least one: to be
   *   finished with the columns of these entries, now or later
   * @param sizes the format's; others are for proofs
   */
  constructor(
    kind: TableKind,
    epoch: number,
    onEnd: (builder: TableBuilder) => void,
    sizes?: CutSizes,
  ) {
    this.#kind = kind;
    this.#epoch = epoch;
    this.#builder = new TableBuilder(kind, epoch);
    this.#cut = new TableCut(sizes);
    this.#onEnd = onEnd;
  }

  /** Whether the next entry begins a table. It may do so all the same when not. */
  get isBetween(): boolean {
    return this.#builder.entries === 0;
  }

  /**
   * @param path UTF-8
   * @throws InvariantError when it does not sort behind the one before
   */
  add(path: Uint8Array, json: Uint8Array): void {
    const bytes = entryBytes(path.length, json.length);
    if (this.#cut.endsBefore(bytes)) this.#end();
    this.#builder.add(path, json);
    if (this.#cut.endsBehind(path, bytes)) this.#end();
  }

  /**
   * Adds the cursor's current entry, its bytes as they are.
   * @throws InvariantError when its path does not sort behind the one before
   */
  copy(cursor: EntryCursor): void {
    const bytes = cursor.end - cursor.start;
    if (this.#cut.endsBefore(bytes)) this.#end();
    this.#builder.copy(cursor);
    if (this.#cut.endsBehind(cursor.path(), bytes)) this.#end();
  }

  /** There are no more entries: ends the last table, if there is one. */
  end(): void {
    if (this.#builder.entries > 0) this.#end();
  }

  #end(): void {
    const ended = this.#builder;
    this.#builder = new TableBuilder(this.#kind, this.#epoch);
    this.#onEnd(ended);
  }
}
