/**
 * Makes a word list of rows that come one by one, with words as text or as another list has them.
 * Which way a word came does not show in the bytes (I4).
 */
import { NEWLINE } from '../bucketstore/base/ascii.ts';
import { ByteSink, NumberSink } from './column-sinks.ts';
import type { WordList } from './word-list.ts';
import { compareWords, orderWords } from './word-order.ts';

/** The two columns of a list. */
export interface WordColumns {
  readonly words: Buffer;
  readonly rows: Buffer;
}

/** Rows come in order. A word that came two ways is held twice until `finish`. */
export class WordListBuilder {
  readonly #words = new ByteSink();
  readonly #offsets = new NumberSink();
  readonly #numbers = new Map<string, number>();
  /** Numbers here of the words of another list, plus one; 0 for those that did not come yet. */
  readonly #taken = new Map<WordList, Uint32Array>();
  /** Each time that a row has a word: which, and the row. */
  readonly #uses = new NumberSink();
  readonly #rows = new NumberSink();

  /** Words without newline; repeats and empty ones count for nothing. */
  add(row: number, words: readonly string[]): void {
    for (const [i, word] of words.entries()) {
      if (word === '' || words.indexOf(word) < i) continue;
      this.#use(row, this.#numberOf(word));
    }
  }

  /** The words that row `from` of a list of `rowCount` rows has. */
  copy(row: number, list: WordList, from: number, rowCount: number): void {
    const { starts, words } = list.byRow(rowCount);
    const taken = this.#takenOf(list);
    const end = starts[from + 1] ?? 0;
    for (let i = starts[from] ?? 0; i < end; i++) {
      const word = words[i] ?? 0;
      let number = taken[word] ?? 0;
      if (number === 0) {
        number = this.#begin() + 1;
        list.copyWord(word, this.#words);
        taken[word] = number;
      }
      this.#use(row, number - 1);
    }
  }

  /** The columns, once all rows have come. */
  finish(): WordColumns {
    const words = this.#words.take();
    this.#offsets.push(words.length);
    const offsets = this.#offsets.take();
    const order = orderWords(words, offsets);
    const ranks = ranksOf(words, offsets, order);
    const [starts, rows] = groupByRank(this.#uses.take(), this.#rows.take(), ranks);
    const sorted = new ByteSink();
    const sortedRows = new ByteSink();
    for (const [i, word] of order.entries()) {
      const rank = ranks[word] ?? 0;
      if (i > 0 && ranks[order[i - 1] ?? 0] === rank) continue;
      sorted.append(words, offsets[word], offsets[word + 1]);
      appendRows(sortedRows, rows, starts[rank] ?? 0, starts[rank + 1] ?? 0);
    }
    return { words: sorted.take(), rows: sortedRows.take() };
  }

  #numberOf(word: string): number {
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    const number = this.#begin();
    this.#words.text(word);
    this.#words.byte(NEWLINE);
    this.#numbers.set(word, number);
    return number;
  }

  #begin(): number {
    this.#offsets.push(this.#words.length);
    return this.#offsets.length - 1;
  }

  #use(row: number, number: number): void {
    this.#uses.push(number);
    this.#rows.push(row);
  }

  #takenOf(list: WordList): Uint32Array {
    const known = this.#taken.get(list);
    if (known !== undefined) return known;
    const taken = new Uint32Array(list.size);
    this.#taken.set(list, taken);
    return taken;
  }
}

/** Appends how many rows there are in `[start, end)`, and them. */
function appendRows(sink: ByteSink, rows: Uint32Array, start: number, end: number): void {
  sink.varint(end - start);
  let last = 0;
  for (let i = start; i < end; i++) {
    const row = rows[i] ?? 0;
    sink.varint(row - last);
    last = row;
  }
}

/** Places of words in the order, equal words at one place. */
function ranksOf(bytes: Uint8Array, offsets: Uint32Array, order: Uint32Array): Uint32Array {
  const ranks = new Uint32Array(order.length);
  let rank = 0;
  for (const [i, word] of order.entries()) {
    if (i > 0 && compareWords(bytes, offsets, order[i - 1] ?? 0, word) !== 0) rank++;
    ranks[word] = rank;
  }
  return ranks;
}

/** Rows by the rank of the word that they have, in the order they came. */
function groupByRank(
  uses: Uint32Array,
  rows: Uint32Array,
  ranks: Uint32Array,
): readonly [starts: Uint32Array, rows: Uint32Array] {
  const starts = new Uint32Array(ranks.length + 1);
  for (const use of uses) starts[(ranks[use] ?? 0) + 1] = (starts[(ranks[use] ?? 0) + 1] ?? 0) + 1;
  for (let i = 0; i < ranks.length; i++) starts[i + 1] = (starts[i + 1] ?? 0) + (starts[i] ?? 0);
  const next = starts.slice();
  const grouped = new Uint32Array(rows.length);
  for (const [i, use] of uses.entries()) {
    const rank = ranks[use] ?? 0;
    const place = next[rank] ?? 0;
    grouped[place] = rows[i] ?? 0;
    next[rank] = place + 1;
  }
  return [starts, grouped];
}
