/**
 * Goal: a head and a change block tell of exactly the commits that they must tell of. Method:
 * receipts taken away, doubled, and half said; heads that are none.
 */
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import {
  changeBlockOf,
  changeBlockRange,
  decodeChangeBlock,
  encodeChangeBlock,
} from '../../migrate/schema1-changes.ts';
import { decodeSchema1Head, encodeSchema1Head } from '../../migrate/schema1-head.ts';
import { changeBlockKey, HEAD_KEY, schema1RootKey } from '../../migrate/schema1-keys.ts';
import type { Receipt, Schema1Head } from '../../migrate/schema1-records.ts';
import { refusal } from '../log/forge.ts';
import {
  altered,
  CHANGES,
  changes,
  HEAD,
  hashOf,
  headOf,
  named,
  operation,
  receipts,
  refused,
  unnamed,
  WORLD,
} from './schema1-values.ts';

/** A head as its text says it, whatever the rules. */
const headText = (sequence: number, items: readonly string[]): string =>
  `{"schema":1,"world_id":"${WORLD}","sequence":${sequence},` +
  `"root":{"key":"${schema1RootKey(hashOf(7))}","hash":"${hashOf(7)}"},` +
  `"receipts":[${items.join(',')}]}`;
const receiptText = (sequence: number, more = ''): string =>
  `{"operation_id":"${operation(sequence)}","sequence":${sequence},"result":"committed"${more}}`;
const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);
const decode = (text: string): Schema1Head => decodeSchema1Head(Buffer.from(text));

describe('receipt window', () => {
  test.each([
    ['genesis 0', 1, 0],
    ['sequence 2 has 1', 2, 1],
    ['sequence 17 has 16', 17, 16],
    ['sequence 18 has 16', 18, 16],
    ['sequence 20 has 16', 20, 16],
    ['the last sequence has 16', Number.MAX_SAFE_INTEGER, 16],
  ])('%s', (_, sequence, count) => {
    const head = headOf(sequence);
    expect(head.receipts).toHaveLength(count);
    expect(decodeSchema1Head(encodeSchema1Head(head))).toEqual(head);
    const items = range(sequence - count + 1, sequence).map((number) => receiptText(number));
    expect(decode(headText(sequence, items)).receipts).toHaveLength(count);
    // One less, one more.
    if (count > 0)
      expect(refused(HEAD, headText(sequence, items.slice(1)))).toContain('receipts: ');
    const more = [receiptText(sequence - count), ...items];
    expect(refused(HEAD, headText(sequence, more))).toBe(`receipts: ${count + 1}, not ${count}`);
  });

  test.each([
    ['missing receipt', 5, [2, 3, 4]],
    ['gap', 5, [2, 3, 5, 6]],
    ['gap at the end', 5, [2, 3, 4, 6]],
    ['out of order', 5, [3, 2, 4, 5]],
    ['behind the head', 5, [1, 2, 3, 4]],
    ['ahead of the head', 5, [3, 4, 5, 6]],
    ['none where one must be', 2, []],
  ])('%s refused', (_, sequence, of) => {
    const text = headText(
      sequence,
      of.map((number) => receiptText(number)),
    );
    expect(refused(HEAD, text)).toMatch(/^receipts/);
  });

  test('an operation twice refused', () => {
    const twice = receiptText(3).replace(operation(3), operation(2));
    expect(refused(HEAD, headText(3, [receiptText(2), twice]))).toBe(
      'receipts[1].operation_id: there twice',
    );
  });

  test.each([0, -1, 2 ** 53, 1.5])('sequence %d refused', (sequence) => {
    expect(refused(HEAD, headText(sequence, []))).toMatch(/^sequence: /);
  });
});

describe('receipts', () => {
  const parts = {
    path: ',"path":"/a.md"',
    op: ',"op":"publish"',
    version: ',"version":1',
    hash: `,"hash":"sha256-${hashOf(5)}"`,
  };
  const all = Object.values(parts).join('');
  const withMore = (more: string): string => headText(2, [receiptText(2, more)]);
  const change = { path: '/a.md', op: 'publish', agent: '', version: 1, bodyHash: hashOf(5) };

  test('unnamed and named accepted, also in one window', () => {
    const both: Receipt[] = [unnamed(2), named(3), named(4)];
    const head = { ...headOf(4), receipts: both };
    expect(decodeSchema1Head(encodeSchema1Head(head))).toEqual(head);
    expect(decode(withMore('')).receipts[0]?.change).toBeNull();
    expect(decode(withMore(all)).receipts[0]?.change).toEqual(change);
  });

  test('named with an agent accepted', () => {
    const more = `${parts.path}${parts.op},"agent":"ann"${parts.version}${parts.hash}`;
    expect(decode(withMore(more)).receipts[0]?.change).toEqual({ ...change, agent: 'ann' });
  });

  test.each(['publish', 'append', 'archive'])('op %s accepted', (op) => {
    expect(decode(withMore(all.replace('publish', op))).receipts[0]?.change?.op).toBe(op);
  });

  test('half-named refused: each proper part of path, op, version and hash', () => {
    const names = Object.keys(parts) as (keyof typeof parts)[];
    for (let mask = 1; mask < 15; mask++) {
      const some = names.filter((_, index) => (mask >> index) & 1);
      const text = withMore(some.map((name) => parts[name]).join(''));
      expect(refused(HEAD, text)).toMatch(/^receipts\[0\]\.(path|op|version|hash): missing$/);
    }
    expect(refused(HEAD, withMore(',"agent":"ann"'))).toBe('receipts[0].path: missing');
  });

  test.each([
    ['path empty', all.replace('/a.md', ''), 'path'],
    ['path not canonical', all.replace('/a.md', '/a//b.md'), 'path'],
    ['path of the root', all.replace('/a.md', '/'), 'path'],
    ['path with `..`', all.replace('/a.md', '/../a.md'), 'path'],
    ['unknown op', all.replace('publish', 'unarchive'), 'op'],
    ['empty op', all.replace('publish', ''), 'op'],
    ['empty agent', all.replace(',"version"', ',"agent":"","version"'), 'agent'],
    ['agent of two lines', all.replace(',"version"', ',"agent":"a\\nb","version"'), 'agent'],
    ['version 0', all.replace('"version":1', '"version":0'), 'version'],
    ['version above the most', all.replace('"version":1', '"version":2147483648'), 'version'],
    ['empty hash', all.replace(/sha256-\w+/, ''), 'hash'],
    ['hash without its prefix', all.replace('sha256-', ''), 'hash'],
    ['null path', all.replace('"/a.md"', 'null'), 'path'],
    ['null agent', all.replace(',"version"', ',"agent":null,"version"'), 'agent'],
    ['unknown field', `${all},"by":"ann"`, 'by'],
  ])('%s refused', (_, more, field) => {
    expect(more).not.toBe(all);
    expect(refused(HEAD, withMore(more)).startsWith(`receipts[0].${field}: `)).toBe(true);
  });

  test('agent at another place refused', () => {
    const more = `${all.replace(parts.hash, '')},"agent":"ann"${parts.hash}`;
    expect(refused(HEAD, withMore(more))).toContain('not canonical JSON');
  });
});

describe('malformed head', () => {
  const good = headText(2, [receiptText(2)]);
  test.each([
    ['`{`', '{', 'not JSON'],
    ['nothing', '', 'not JSON'],
    ['a page of a proxy', '<html>busy</html>', 'not JSON'],
    ['unknown field', good.replace(/\}$/, ',"epoch":1}'), 'epoch: unknown field'],
    ['trailing newline', `${good}\n`, 'not canonical JSON'],
    ['trailing value', `${good}null`, 'not JSON'],
    ['null receipts', good.replace(/\[.*\]/, 'null'), 'receipts: not an array'],
    ['result other than committed', good.replace('committed', 'failed'), 'receipts[0].result: '],
    ['result absent', good.replace(',"result":"committed"', ''), 'receipts[0].result: missing'],
    ['root as text', good.replace(/"root":\{[^}]*\}/, '"root":"x"'), 'root: not an object'],
    ['root without key', good.replace(/"key":"[^"]*",/, ''), 'root.key: missing'],
    ['root under another key', good.replace('roots/', 'root/'), 'root.key: not the key'],
    ['root of another hash', good.replace(hashOf(7), hashOf(8)), 'root.key: not the key'],
    ['root that says more', good.replace('"hash":', '"size":1,"hash":'), 'root.size: unknown'],
    ['deep nesting', `{"schema":1,"a":${'['.repeat(9000)}`, 'nested deeper'],
    ['megabytes', good.padEnd(1_048_577), 'bytes of JSON, more than'],
  ])('%s → integrity', (_, text, problem) => {
    expect(refused(HEAD, text)).toContain(problem);
  });

  test.each([0, 2, 3])('schema %d refused', (schema) => {
    const text = good.replace('"schema":1', `"schema":${schema}`);
    expect(refused(HEAD, text)).toBe(`schema: ${schema} is not 1`);
  });

  test('is not made', () => {
    const head = headOf(4);
    const wrong: Schema1Head[] = [
      { ...head, worldId: 'world' },
      { ...head, rootHash: 'x' },
      { ...head, sequence: 5 },
      { ...head, receipts: head.receipts.slice(1) },
      { ...head, receipts: receipts(2, 5) },
      { ...headOf(1), sequence: 0 },
    ];
    for (const one of wrong) expect(() => encodeSchema1Head(one)).toThrow(InvariantError);
  });
});

describe('change blocks', () => {
  test('hold eight sequences each, the first one seven', () => {
    expect(changeBlockRange(0)).toEqual({ first: 2, last: 8 });
    expect(changeBlockRange(1)).toEqual({ first: 9, last: 16 });
    expect(changeBlockRange(5)).toEqual({ first: 41, last: 48 });
    for (let sequence = 2; sequence <= 100; sequence++) {
      const { first, last } = changeBlockRange(changeBlockOf(sequence));
      expect(sequence).toBeGreaterThanOrEqual(first);
      expect(sequence).toBeLessThanOrEqual(last);
    }
    expect(changeBlockKey(changeBlockOf(Number.MAX_SAFE_INTEGER))).toContain('0003ffffffffffff');
  });

  test.each([0, 1, 200])('block %d comes back as it was', (index) => {
    const { first, last } = changeBlockRange(index);
    const block = { worldId: WORLD, first, receipts: receipts(first, last) };
    const bytes = encodeChangeBlock(block);
    expect(decodeChangeBlock(changeBlockKey(index), bytes, WORLD)).toEqual(block);
    for (const other of [index + 1, Math.abs(index - 1)]) {
      const key = changeBlockKey(other);
      const error = refusal(key, () => decodeChangeBlock(key, bytes, WORLD));
      expect(error.message).toContain('first: ');
    }
  });

  test('of another world refused', () => {
    const other = WORLD.replace('5', '6');
    expect(refused(CHANGES, altered(CHANGES, WORLD, other))).toBe(
      `world_id: ${other} is not ${WORLD}`,
    );
  });

  test('with a receipt too few, too many or out of place refused, and not made', () => {
    for (const items of [receipts(9, 15), receipts(9, 17), receipts(10, 17), receipts(8, 15)]) {
      expect(() => encodeChangeBlock({ ...changes, receipts: items })).toThrow(InvariantError);
    }
    expect(() => encodeChangeBlock({ ...changes, first: 10 })).toThrow(InvariantError);
    expect(() => encodeChangeBlock({ ...changes, first: 1 })).toThrow(InvariantError);
    const eighth = new RegExp(`,\\{"operation_id":"${operation(16)}".*\\}(?=\\]\\}$)`);
    expect(refused(CHANGES, altered(CHANGES, eighth, ''))).toBe('receipts: 7, not 8');
  });

  test('are read under their own keys only', () => {
    expect(() => decodeChangeBlock(HEAD_KEY, CHANGES.bytes, WORLD)).toThrow(InvariantError);
  });
});
