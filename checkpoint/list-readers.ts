/**
 * Lists of paths and of words from bytes that nobody has vouched for: every length, order and end
 * is checked once, here, so that all later reads may trust them.
 */
import { NEWLINE } from '../bucketstore/base/ascii.ts';
import { PATH_BYTES_MAX } from '../bucketstore/document/path.ts';
import { isUtf8 } from '../bucketstore/document/text.ts';
import { bufferOf, varintAt, varintBytes } from './column-bytes.ts';
import { HIDDEN } from './column-names.ts';
import { NumberSink } from './column-sinks.ts';
import { kindOfPath } from './path-bytes.ts';
import { BLOCK_PATHS, PathList } from './path-list.ts';
import { WordList } from './word-list.ts';
import { compareWords } from './word-order.ts';

/** Refuses the bytes, saying why. */
type Refuse = (problem: string) => never;

/**
 * The paths of `rows` rows. Keeps the bytes.
 * @param flags of each row: whether its path has a hidden segment must be said there
 */
export function readPathList(
  bytes: Uint8Array,
  rows: number,
  flags: Uint8Array,
  refuse: Refuse,
): PathList {
  const blocks = new NumberSink();
  const path = Buffer.allocUnsafe(PATH_BYTES_MAX);
  let pathLength = 0;
  let at = 0;
  for (let row = 0; row < rows; row++) {
    const begins = row % BLOCK_PATHS === 0;
    if (begins) blocks.push(at);
    const shared = varintAt(bytes, at);
    const lengthAt = at + varintBytes(shared);
    const length = varintAt(bytes, lengthAt);
    const start = lengthAt + varintBytes(length);
    at = start + length;
    const bounded = shared >= 0 && length > 0 && at <= bytes.length;
    if (!bounded || shared > pathLength || shared + length > PATH_BYTES_MAX) {
      return refuse(`row ${row}: a length is out of range`);
    }
    if (begins && shared > 0) return refuse(`row ${row}: begins a block and shares bytes`);
    const order = begins
      ? orderOf(path, pathLength, bytes, start, at)
      : stepOf(path, pathLength, shared, bytes[start] ?? 0);
    if (order >= 0) return refuse(`row ${row}: out of order, or shares more than it says`);
    for (let i = 0; i < length; i++) path[shared + i] = bytes[start + i] ?? 0;
    pathLength = shared + length;
    const kind = kindOfPath(path, pathLength);
    if (kind === 'invalid') return refuse(`row ${row}: no document path`);
    const isMarked = ((flags[row] ?? 0) & HIDDEN) !== 0;
    if (isMarked !== (kind === 'hidden')) return refuse(`row ${row}: hidden, or not, unlike flags`);
  }
  if (at !== bytes.length) return refuse(`${bytes.length - at} bytes too many`);
  return new PathList(rows, bytes, blocks.take());
}

/** The order of the path before against one written whole: negative when it is less. */
function orderOf(
  path: Uint8Array,
  length: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): number {
  const common = Math.min(length, end - start);
  for (let i = 0; i < common; i++) {
    const order = (path[i] ?? 0) - (bytes[start + i] ?? 0);
    if (order !== 0) return order;
  }
  return length - (end - start);
}

/** The same against one that shares exactly `shared` bytes with it and goes on with `byte`. */
function stepOf(path: Uint8Array, length: number, shared: number, byte: number): number {
  return shared === length ? -1 : (path[shared] ?? 0) - byte;
}

/** Words and the rows, below `rowCount`, that have them. Keeps the bytes. */
export function readWordList(
  words: Uint8Array,
  rows: Uint8Array,
  rowCount: number,
  refuse: { readonly words: Refuse; readonly rows: Refuse },
): WordList {
  const offsets = readWords(words, refuse.words);
  const starts = readRows(rows, offsets.length - 1, rowCount, refuse.rows);
  return new WordList(bufferOf(words), offsets, rows, starts);
}

function readWords(words: Uint8Array, refuse: Refuse): Uint32Array {
  if (!isUtf8(words)) return refuse('not well-formed UTF-8');
  if (words.length > 0 && words.at(-1) !== NEWLINE) return refuse('no newline at the end');
  const offsets = new NumberSink();
  offsets.push(0);
  for (let i = 0; i < words.length; i++) if (words[i] === NEWLINE) offsets.push(i + 1);
  const taken = offsets.take();
  for (let word = 0; word + 1 < taken.length; word++) {
    if ((taken[word + 1] ?? 0) - (taken[word] ?? 0) < 2) return refuse(`word ${word}: empty`);
    if (word > 0 && compareWords(words, taken, word - 1, word) >= 0) {
      return refuse(`word ${word}: out of order`);
    }
  }
  return taken;
}

function readRows(
  bytes: Uint8Array,
  wordCount: number,
  rowCount: number,
  refuse: Refuse,
): Uint32Array {
  const starts = new Uint32Array(wordCount + 1);
  let at = 0;
  for (let word = 0; word < wordCount; word++) {
    starts[word] = at;
    const count = varintAt(bytes, at);
    at += varintBytes(count);
    if (count < 1 || count > rowCount) return refuse(`word ${word}: ${count} rows`);
    let row = 0;
    for (let i = 0; i < count; i++) {
      const distance = varintAt(bytes, at);
      at += varintBytes(distance);
      row += distance;
      if (distance < (i === 0 ? 0 : 1) || row >= rowCount) {
        return refuse(`word ${word}: its row ${i} is out of range`);
      }
    }
  }
  if (at !== bytes.length) return refuse(`${bytes.length - at} bytes too many`);
  starts[wordCount] = at;
  return starts;
}
