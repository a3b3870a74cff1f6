/**
 * Reading a part of a table. A path read takes the stretch of entries that can hold the path
 * (`stretchOf`), the blocks that cover it (`blocksFor`, one request), checks them (`sliceBlocks`),
 * and looks at the entries (`findEntry`).
 */
import { assert } from '../bucketstore/base/assert.ts';
import { sha256Hex } from '../bucketstore/base/digest.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { compareUtf8 } from '../bucketstore/base/order.ts';
import { BLOCK_BYTES } from './constants.ts';
import { type DataRange, dataLength, type TableDirectory } from './table-directory.ts';

/** Entries in a row among which a path is, if anywhere in the table. */
export interface Stretch extends DataRange {
  /** The number of the first of them. */
  readonly row: number;
}

/** Whole blocks that cover a range of data. */
export interface BlockRead {
  /** Number of the first one. */
  readonly firstBlock: number;
  /** Where they lie in the object: what to ask the bucket for. Length 0: nothing. */
  readonly offset: number;
  readonly length: number;
  /** Where the range begins in them. */
  readonly skip: number;
}

/** The entries that can hold a path; null when the path sorts before the first. Binary search. */
export function stretchOf({ marks, ranges }: TableDirectory, path: string): Stretch | null {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const mark = marks[middle];
    if (mark === undefined || compareUtf8(mark.path, path) > 0) high = middle;
    else low = middle + 1;
  }
  const from = marks[low - 1];
  if (from === undefined) return null;
  const end = marks[low]?.offset ?? ranges.entries.length;
  return { offset: from.offset, length: end - from.offset, row: from.row };
}

/**
 * The blocks that cover a range of data: one range request.
 * @throws InvariantError for a range outside the data
 */
export function blocksFor(directory: TableDirectory, range: DataRange): BlockRead {
  const data = dataLength(directory.ranges);
  const end = range.offset + range.length;
  assert(range.offset >= 0 && range.length >= 0, () => `data from ${range.offset} to ${end}`);
  assert(end <= data, () => `data to ${end} of ${data}`);
  const firstBlock = Math.floor(range.offset / BLOCK_BYTES);
  const start = firstBlock * BLOCK_BYTES;
  const stop = Math.min(Math.ceil(end / BLOCK_BYTES) * BLOCK_BYTES, data);
  const length = range.length === 0 ? 0 : stop - start;
  return { firstBlock, offset: directory.length + start, length, skip: range.offset - start };
}

/**
 * Refuses data that is not what was written.
 * @param bytes whole blocks from `firstBlock` on; only the table's last may be shorter
 * @throws StoreError INTEGRITY naming the table and the block
 */
export function verifyBlocks(
  { key, ranges, blocks }: TableDirectory,
  firstBlock: number,
  bytes: Uint8Array,
): void {
  const start = firstBlock * BLOCK_BYTES;
  const end = start + bytes.length;
  if (
    end !== dataLength(ranges) &&
    (bytes.length % BLOCK_BYTES !== 0 || end > dataLength(ranges))
  ) {
    throw integrityError(key, `data from ${start} to ${end} of ${dataLength(ranges)}: no blocks`);
  }
  for (let at = 0, block = firstBlock; at < bytes.length; at += BLOCK_BYTES, block++) {
    if (sha256Hex(bytes.subarray(at, at + BLOCK_BYTES)) !== blocks[block]) {
      throw integrityError(key, `block ${block} does not have its hash`);
    }
  }
}

/**
 * The bytes of a range, out of the blocks that were read for it: a view.
 * @param bytes what the bucket answered to `read`
 * @throws StoreError INTEGRITY naming the table, unless they are these blocks
 */
export function sliceBlocks(
  directory: TableDirectory,
  range: DataRange,
  read: BlockRead,
  bytes: Uint8Array,
): Uint8Array {
  if (bytes.length !== read.length) {
    throw integrityError(
      directory.key,
      `${bytes.length} bytes where ${read.length} were asked for`,
    );
  }
  verifyBlocks(directory, read.firstBlock, bytes);
  return bytes.subarray(read.skip, read.skip + range.length);
}
