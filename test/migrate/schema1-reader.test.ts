/**
 * Goal: no object is read further than its kind can be long, and what is large is read in parts,
 * one at a time. Method: objects of every size in a bucket in memory that tells of each request.
 */
import { describe, expect, test } from 'vitest';
import type { BlobStore, GetOptions, GetResult } from '../../blob/index.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { STORED_BYTES_MAX } from '../../bucketstore/document/stored.ts';
import { SCHEMA1_BOUNDS, schema1BytesMax } from '../../migrate/schema1-bounds.ts';
import { schema1Key } from '../../migrate/schema1-keys.ts';
import { Schema1Reader } from '../../migrate/schema1-reader.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { hashOf } from './schema1-values.ts';

const MIB = 1_048_576;

/** A bucket that notes what is read of it, and may answer otherwise. */
class Noting {
  readonly inner: BlobStore = createMemoryBucket({ timing: new ManualClock() });
  /** Bytes that each `get` answered. */
  readonly reads: number[] = [];
  answer: (result: GetResult, options: GetOptions) => GetResult = (result) => result;

  get bucket(): BlobStore {
    const get = async (key: string, options: GetOptions = {}): Promise<GetResult> => {
      const result = this.answer(await this.inner.get(key, options), options);
      this.reads.push(result.found ? result.bytes.length : 0);
      return result;
    };
    return Object.assign(Object.create(this.inner), { get });
  }
}

const shardName = (number: number) =>
  ({ kind: 'shard', shard: '00', hash: hashOf(number) }) as const;
const lengthOf = (_: string, bytes: Uint8Array) => ({ length: bytes.length });

describe('an object', () => {
  test.each([0, 1, 300_000, STORED_BYTES_MAX])('of %i bytes is one request', async (size) => {
    const noting = new Noting();
    await noting.inner.create(schema1Key(shardName(1)), Buffer.alloc(size));
    const reader = new Schema1Reader(noting.bucket, {});
    expect(await reader.read(shardName(1), lengthOf)).toEqual({ length: size });
    expect(noting.reads).toEqual([size]);
  });

  test('that is larger is read in parts, byte for byte', async () => {
    const noting = new Noting();
    const bytes = Buffer.alloc(STORED_BYTES_MAX + 8 * MIB + 5, '0123456789abcdefg');
    await noting.inner.create(schema1Key(shardName(1)), bytes);
    const reader = new Schema1Reader(noting.bucket, {});
    const read = await reader.read(shardName(1), (_, found) => ({ same: bytes.equals(found) }));
    expect(read).toEqual({ same: true });
    expect(noting.reads).toEqual([STORED_BYTES_MAX, 8 * MIB, 5]);
  });

  test('of those that are larger one at a time is read and decoded', async () => {
    const noting = new Noting();
    const size = STORED_BYTES_MAX + 1;
    const names = [1, 2, 3].map(shardName);
    for (const name of names) await noting.inner.create(schema1Key(name), Buffer.alloc(size));
    const reader = new Schema1Reader(noting.bucket, {});
    const seen: number[] = [];
    const decode = (_: string, { length }: Uint8Array) => {
      seen.push(noting.reads.filter((read) => read === 1).length);
      return { length };
    };
    await Promise.all(names.map((name) => reader.read(name, decode)));
    expect(seen).toEqual([1, 2, 3]);
  });

  test.each([
    ['head', SCHEMA1_BOUNDS.head.bytesMax],
    ['root', 65_536],
    ['shard', 134_217_728],
    ['manifest', 67_108_864],
    ['history', 131_072],
    ['blob', STORED_BYTES_MAX],
  ] as const)('%s beyond what it can be is not read, and its size is named', async (kind, max) => {
    expect(schema1BytesMax(kind)).toBe(max);
    const noting = new Noting();
    const name = { kind, shard: '00', pathHash: hashOf(2), hash: hashOf(1) };
    const key = schema1Key(name);
    await noting.inner.create(key, Buffer.alloc(10));
    // As if it were so large.
    let size = max + 1;
    noting.answer = (result, { range = [0, Number.MAX_SAFE_INTEGER] }) => {
      if (!result.found) return result;
      const length = Math.max(Math.min(range[1], size) - range[0], 0);
      return {
        ...result,
        attributes: { ...result.attributes, size },
        bytes: Buffer.alloc(Math.min(length, 100)),
      };
    };
    const decoded: number[] = [];
    const decode = (_: string, bytes: Uint8Array) => {
      decoded.push(bytes.length);
      return {};
    };
    const reader = new Schema1Reader(noting.bucket, {});
    const problem = `${size} bytes, more than ${max}`;
    expect(await reader.read(name, decode)).toEqual({ object: key, problem });
    expect(noting.reads).toHaveLength(1);
    expect(decoded).toEqual([]);
    size = Math.min(max, STORED_BYTES_MAX);
    expect(await reader.read(name, decode)).toEqual({});
  });

  test('that changes while it is read, or is not there, is named', async () => {
    const noting = new Noting();
    const key = schema1Key(shardName(1));
    const reader = new Schema1Reader(noting.bucket, {});
    expect(await reader.read(shardName(1), lengthOf)).toEqual({ object: key, problem: 'missing' });
    await noting.inner.create(key, Buffer.alloc(2 * MIB));
    const changed = { object: key, problem: 'changed while it was read' };
    noting.answer = (result, { range }) => (range?.[0] === 0 ? result : { found: false });
    expect(await reader.read(shardName(1), lengthOf)).toEqual(changed);
    noting.answer = (result, { range }) =>
      result.found && range?.[0] !== 0 ? { ...result, bytes: result.bytes.subarray(1) } : result;
    expect(await reader.read(shardName(1), lengthOf)).toEqual(changed);
  });
});
