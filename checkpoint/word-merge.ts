/**
 * Merges the word lists of segments whose rows follow one another into the one of their run. What
 * is in proportion to a segment is done as it comes, the rest in steps, so that nobody waits long.
 */
import { NEWLINE } from '../bucketstore/base/ascii.ts';
import { varintBytes, writeVarint } from './column-bytes.ts';
import { ByteSink, NumberSink } from './column-sinks.ts';
import { WordList } from './word-list.ts';
import { orderWords } from './word-order.ts';

/** What is kept of a list until all have come. */
interface Part {
  /** Number here of each of its words. */
  readonly numbers: Uint32Array;
  /** Distance of each word's first row from the last row that had the word before. */
  readonly distances: Uint32Array;
  /** Bytes of the further rows of all words. */
  readonly rests: Uint8Array;
  /** Where those of each word end. */
  readonly ends: Uint32Array;
}

export class WordMerge {
  readonly #numbers = new Map<string, number>();
  readonly #words = new ByteSink();
  readonly #offsets = new NumberSink();
  readonly #parts: Part[] = [];
  /** By number: rows so far, the last of them, and bytes that they will take. */
  readonly #counts: number[] = [];
  readonly #lasts: number[] = [];
  readonly #bytes: number[] = [];

  /** Takes the next list; its row 0 becomes `firstRow`. Keeps none of its bytes. */
  append(list: WordList, firstRow: number): void {
    const numbers = new Uint32Array(list.size);
    const distances = new Uint32Array(list.size);
    const ends = new Uint32Array(list.size);
    const rests = new ByteSink(4096);
    for (let word = 0; word < list.size; word++) {
      const number = this.#numberOf(list.word(word));
      const { count, first, last } = list.copyRest(word, rests);
      const distance = firstRow + first - (this.#lasts[number] ?? 0);
      const rest = rests.length - (ends[word - 1] ?? 0);
      numbers[word] = number;
      distances[word] = distance;
      ends[word] = rests.length;
      this.#counts[number] = (this.#counts[number] ?? 0) + count;
      this.#lasts[number] = firstRow + last;
      this.#bytes[number] = (this.#bytes[number] ?? 0) + varintBytes(distance) + rest;
    }
    this.#parts.push({ numbers, distances, rests: rests.take(), ends });
  }

  /** The merged list, in steps. Nothing is appended after this. */
  *finish(): Generator<undefined, WordList> {
    const words = this.#words.take();
    this.#offsets.push(words.length);
    const offsets = this.#offsets.take();
    const order = orderWords(words, offsets);
    yield;
    const { starts, places, rows } = this.#layOut(order);
    for (const part of this.#parts) {
      fill(rows, places, part);
      yield;
    }
    const sorted = new ByteSink(words.length);
    const ends = new Uint32Array(offsets.length);
    for (const [rank, number] of order.entries()) {
      sorted.append(words, offsets[number], offsets[number + 1]);
      ends[rank + 1] = sorted.length;
    }
    return new WordList(sorted.take(), ends, rows, starts);
  }

  /** Where the rows of each word begin, and their counts written. */
  #layOut(order: Uint32Array): {
    /** By rank. */
    readonly starts: Uint32Array;
    /** By number: where its next rows go. */
    readonly places: Uint32Array;
    readonly rows: Buffer;
  } {
    const starts = new Uint32Array(order.length + 1);
    for (const [rank, number] of order.entries()) {
      const bytes = varintBytes(this.#counts[number] ?? 0) + (this.#bytes[number] ?? 0);
      starts[rank + 1] = (starts[rank] ?? 0) + bytes;
    }
    const rows = Buffer.allocUnsafeSlow(starts[order.length] ?? 0);
    const places = new Uint32Array(order.length);
    for (const [rank, number] of order.entries()) {
      places[number] = writeVarint(rows, starts[rank] ?? 0, this.#counts[number] ?? 0);
    }
    return { starts, places, rows };
  }

  #numberOf(word: string): number {
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(word, number);
    this.#offsets.push(this.#words.length);
    this.#words.text(word);
    this.#words.byte(NEWLINE);
    return number;
  }
}

/** Writes the rows of one list where they belong. */
function fill(rows: Uint8Array, places: Uint32Array, part: Part): void {
  const { numbers, distances, rests, ends } = part;
  for (const [word, number] of numbers.entries()) {
    let at = writeVarint(rows, places[number] ?? 0, distances[word] ?? 0);
    const end = ends[word] ?? 0;
    for (let i = ends[word - 1] ?? 0; i < end; i++) rows[at++] = rests[i] ?? 0;
    places[number] = at;
  }
}
