/**
 * Goal: whatever a receipt could tell otherwise is found, but for what nothing else tells.
 * Method: a world of which all is told; every receipt in turn, in the head or in a change block,
 * given every other valid value of each of its fields, and held against what was read once.
 */
import { describe, expect, test } from 'vitest';
import { Problems } from '../../bucketstore/log/problems.ts';
import { SCHEMA1_BOUNDS } from '../../migrate/schema1-bounds.ts';
import {
  changeBlockRange,
  decodeChangeBlock,
  encodeChangeBlock,
} from '../../migrate/schema1-changes.ts';
import { Schema1Graph } from '../../migrate/schema1-graph.ts';
import { CHANGES_PREFIX, changeBlockKey } from '../../migrate/schema1-keys.ts';
import { listSchema1, type Schema1Listing } from '../../migrate/schema1-listing.ts';
import { readTold } from '../../migrate/schema1-past.ts';
import { Schema1Present } from '../../migrate/schema1-present.ts';
import type { Receipt, ReceiptChange, Schema1Head } from '../../migrate/schema1-records.ts';
import type { Schema1Told } from '../../migrate/schema1-report.ts';
import type { OldReceipt } from '../schema1/records.ts';
import { ForgedWorld, OTHER_HASH, OTHER_WORLD } from './schema1-forge.ts';

const SEED = 17;
const OPERATIONS = ['publish', 'append', 'archive'] as const;

interface Scene {
  readonly forged: ForgedWorld;
  readonly present: Schema1Present;
  readonly listing: Schema1Listing;
}

/** A small world, all of its past told. */
async function scene(): Promise<Scene> {
  const told = { receipts: 'named', changes: 'complete' } as const;
  const forged = await ForgedWorld.of({ seed: SEED, documents: 30, ...told });
  const present = new Schema1Present();
  for await (const { entry, versions } of new Schema1Graph(
    forged.bucket,
    forged.head,
  ).documents()) {
    present.take(entry, versions);
  }
  return { forged, present, listing: await listSchema1(forged.bucket) };
}

async function toldBy(
  { forged, present, listing }: Scene,
  head: Schema1Head,
): Promise<{ readonly told: Schema1Told; readonly named: readonly string[] }> {
  const problems = new Problems();
  const { bucket } = forged;
  const isThere = (path: string): boolean => present.get(path) !== undefined;
  const known = { present, isThere, listing, headAfter: head.sequence };
  const told = await readTold(head, { bucket, signal: undefined, problems, ...known });
  return { told, named: problems.named.map(({ object }) => object) };
}

/** Every receipt with one field of another valid value. */
function* changed(receipt: Receipt): Generator<readonly [field: string, receipt: Receipt]> {
  const { change } = receipt;
  if (change === null) return;
  yield ['operation', { ...receipt, operationId: OTHER_WORLD }];
  const other = (next: Partial<ReceiptChange>): Receipt => {
    return { ...receipt, change: { ...change, ...next } };
  };
  yield ['agent', other({ agent: `${change.agent}!` })];
  yield ['path', other({ path: '/none.md' })];
  yield ['hash', other({ bodyHash: OTHER_HASH })];
  yield ['version', other({ version: change.version + 1 })];
  if (change.version > 1) yield ['version', other({ version: change.version - 1 })];
  for (const op of OPERATIONS) if (op !== change.op) yield ['op', other({ op })];
}

/** Whether nothing else says that a receipt is another than it was. */
function isUnknowable(
  field: string,
  was: Receipt,
  { change: next }: Receipt,
  past: readonly OldReceipt[],
): boolean {
  if (field === 'operation' || field === 'agent') return true;
  if (field !== 'op' || [was.change?.op, next?.op].includes('archive')) return false;
  const made = past.find(({ change }) => {
    return change?.path === next?.path && change?.version === next?.version;
  });
  // A version may be published or appended; the first is not appended, nor is one brought back.
  return made?.sequence === was.sequence && next !== null && next.version > 1;
}

describe('a receipt that tells one thing otherwise is found, unless nothing else tells', () => {
  async function hold(
    all: Scene,
    receipts: readonly Receipt[],
    put: (index: number, next: Receipt) => Promise<Schema1Head>,
  ): Promise<void> {
    const { world, head } = all.forged;
    const past = world.receiptsOf(2, head.sequence);
    for (const [index, was] of receipts.entries()) {
      for (const [field, next] of changed(was)) {
        const { named } = await toldBy(all, await put(index, next));
        const what = `${field} of ${was.sequence}: ${JSON.stringify(next.change)}`;
        expect(named.length === 0, what).toBe(isUnknowable(field, was, next, past));
      }
    }
  }

  test('in a change block', async () => {
    const all = await scene();
    const { forged } = all;
    const { head } = forged;
    expect((await toldBy(all, head)).named).toEqual([]);
    const first = head.sequence - head.receipts.length + 1;
    const keys = forged.keys().filter((key) => key.startsWith(CHANGES_PREFIX));
    for (const key of keys) {
      const block = decodeChangeBlock(key, forged.bytes(key), head.worldId);
      // What the head tells too has to be the same.
      const receipts = block.receipts.filter(({ sequence }) => sequence < first);
      await hold(all, receipts, async (index, next) => {
        const changedBlock = { ...block, receipts: block.receipts.with(index, next) };
        await forged.put(key, encodeChangeBlock(changedBlock));
        return head;
      });
      await forged.put(key, encodeChangeBlock(block));
    }
  });

  test('in a head without change blocks', async () => {
    const all = await scene();
    const { head } = all.forged;
    const alone = { ...all, listing: { ...all.listing, changes: [] } };
    expect((await toldBy(alone, head)).named).toEqual([]);
    await hold(alone, head.receipts, async (index, next) => {
      return { ...head, receipts: head.receipts.with(index, next) };
    });
  });

  test('the world has all that can be told: archived, brought back, appended', async () => {
    const { forged } = await scene();
    const { world, head } = forged;
    const past = world.receiptsOf(2, head.sequence);
    const ops = past.map(({ change }) => change?.op);
    expect(new Set(ops)).toEqual(new Set(OPERATIONS));
    expect([...world.documents()].some(({ archived }) => archived)).toBe(true);
    const archived = past.filter(({ change }) => change?.op === 'archive').length;
    expect([...world.documents()].filter((one) => one.archived).length).toBeLessThan(archived);
  });
});

test('of two change blocks with a gap between, what comes behind it is told', async () => {
  const all = await scene();
  const [, gap = { index: -1 }, ...rest] = all.listing.changes;
  const listing = { ...all.listing, changes: all.listing.changes.filter((one) => one !== gap) };
  const { told, named } = await toldBy({ ...all, listing }, all.forged.head);
  expect(rest).not.toEqual([]);
  expect(named).toEqual([]);
  expect(told).toMatchObject({ changeGaps: 1, resumesFrom: changeBlockRange(gap.index).last });
});

test('a change block that is listed as larger than one can be is named, and not read', async () => {
  const all = await scene();
  const [first = { index: -1, size: 0 }, ...others] = all.listing.changes;
  const sizeMax = SCHEMA1_BOUNDS.changes.bytesMax;
  for (const [size, expected] of [
    [sizeMax, []],
    [sizeMax + 1, [changeBlockKey(first.index)]],
  ] as const) {
    const listing = { ...all.listing, changes: [{ ...first, size }, ...others] };
    const { named } = await toldBy({ ...all, listing }, all.forged.head);
    expect(named).toEqual(expected);
  }
});
