/**
 * Order of many words by their bytes. Three bytes at a time become the high part of a number whose
 * low part says which word it is, and the engine sorts numbers natively: several times as fast as
 * calling a comparison for each pair, and no list of words can make it slow.
 *
 * A word ends with a newline, which is in none; `offsets` say where each begins and the last ends.
 */

/** One more than a byte can be, since 0 says that the word has ended. */
const DIGIT = 257;
/** Places of a range fit below the three digits (25 bits) in a number of 53. */
const PLACES = 2 ** 28;
/** Up to so many words are put in order one by one. */
const FEW = 12;

/** The words' numbers in the order of their bytes; equal words in the order they came. */
export function orderWords(bytes: Uint8Array, offsets: Uint32Array): Uint32Array {
  const order = new Uint32Array(Math.max(0, offsets.length - 1));
  for (let i = 0; i < order.length; i++) order[i] = i;
  const sorter = { bytes, offsets, order, keys: new Float64Array(order.length) };
  sortRange(sorter, new Uint32Array(order.length), 0, order.length, 0);
  return order;
}

/** Negative, zero or positive as a word sorts before, with or after another. */
export function compareWords(
  bytes: Uint8Array,
  offsets: Uint32Array,
  a: number,
  b: number,
  depth = 0,
): number {
  const endA = (offsets[a + 1] ?? 0) - 1;
  const endB = (offsets[b + 1] ?? 0) - 1;
  let i = (offsets[a] ?? 0) + depth;
  let j = (offsets[b] ?? 0) + depth;
  for (; i < endA && j < endB; i++, j++) {
    const order = (bytes[i] ?? 0) - (bytes[j] ?? 0);
    if (order !== 0) return order;
  }
  return endA - i - (endB - j);
}

interface Sorter {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  readonly order: Uint32Array;
  readonly keys: Float64Array;
}

/** Orders `[from, to)`, words that agree in their first `depth` bytes. */
function sortRange(
  sorter: Sorter,
  before: Uint32Array,
  from: number,
  to: number,
  depth: number,
): void {
  if (to - from <= FEW) {
    insertionSort(sorter, from, to, depth);
    return;
  }
  const { bytes, offsets, order, keys } = sorter;
  for (let i = from; i < to; i++) {
    const word = order[i] ?? 0;
    before[i] = word;
    const start = (offsets[word] ?? 0) + depth;
    keys[i] = digits(bytes, start, (offsets[word + 1] ?? 0) - 1) * PLACES + (i - from);
  }
  keys.subarray(from, to).sort();
  // The deeper ranges use the same numbers: what is still needed of them is the ends of groups.
  const ends: number[] = [];
  for (let i = from; i < to; i++) {
    const key = keys[i] ?? 0;
    const prefix = Math.floor(key / PLACES);
    order[i] = before[from + (key - prefix * PLACES)] ?? 0;
    const next = i + 1 < to ? Math.floor((keys[i + 1] ?? 0) / PLACES) : -1;
    // Words that have ended are equal.
    if (next !== prefix) ends.push(prefix % DIGIT === 0 ? -(i + 1) : i + 1);
  }
  let start = from;
  for (const end of ends) {
    if (end > start + 1) sortRange(sorter, before, start, end, depth + 3);
    start = Math.abs(end);
  }
}

function digits(bytes: Uint8Array, start: number, end: number): number {
  const a = start < end ? (bytes[start] ?? 0) + 1 : 0;
  const b = start + 1 < end ? (bytes[start + 1] ?? 0) + 1 : 0;
  const c = start + 2 < end ? (bytes[start + 2] ?? 0) + 1 : 0;
  return (a * DIGIT + b) * DIGIT + c;
}

function insertionSort(
  { bytes, offsets, order }: Sorter,
  from: number,
  to: number,
  depth: number,
): void {
  for (let i = from + 1; i < to; i++) {
    const word = order[i] ?? 0;
    let at = i;
    while (at > from && compareWords(bytes, offsets, order[at - 1] ?? 0, word, depth) > 0) {
      order[at] = order[at - 1] ?? 0;
      at--;
    }
    order[at] = word;
  }
}
