/**
 * Goal: verification holds bases that the log has passed, and a life that began with a checkpoint,
 * against what they must be.
 * Method: a log long enough for a second base; and the state of a log as the start of a life.
 */
import { expect, test } from 'vitest';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { checkpointKey, LOG_PREFIX, slotKey } from '../../bucketstore/log/names.ts';
import { decodeSlot } from '../../bucketstore/log/slot.ts';
import { EntryLog, writeCheckpoint } from '../support/checkpoint-writer.ts';
import { VerifyBench } from './verify-world.ts';

test('a base that ends inside a slot is verified, and what its root says of it', async () => {
  const world = new VerifyBench(17, { paths: 400, batch: 250, hot: 3 });
  await world.checkpoints([17_420, 17_700]);
  const [older = '', newest = ''] = await world.records();
  const root = await world.root(newest);
  expect(root.base.position).toBe(17_408);
  expect(world.log.slots).not.toContain(sequence(root.base.position + 1));
  expect(await world.verify()).toMatchObject({ problems: [], checkpoints: 2 });
  const other = await world.root(older);
  const base = { ...other.base, documents: other.base.documents - 1 };
  const forged = await world.forgeRoot(older, { ...other, base });
  // Up to the base packs hold what is retained at least.
  const [first, ...packs] = root.packs;
  expect(first?.last).toBeLessThan(root.base.position);
  const less = await world.forgeRoot(newest, { ...root, packs });
  const said = (await world.said()).join('\n');
  expect(said).toContain(`${forged}: base.documents: `);
  expect(said).toMatch(new RegExp(`^${less}: packs: \\d+ retained`, 'm'));
});

test('a life that began with a checkpoint is verified from it on', async () => {
  const past = new VerifyBench(19, { paths: 60, batch: 100, hot: 5 });
  await past.log.begin();
  await past.log.writeTo(1300);
  const log = new EntryLog(past.log.marker);
  for (const key of await past.bench.keys(LOG_PREFIX)) {
    const bytes = await past.bench.bytes(key);
    log.addSlot(decodeSlot(key, bytes).slot, bytes);
    await past.bench.bucket.delete(key);
  }
  const { tip, documentCount: documents } = past.log.state;
  const { bucket } = past.bench;
  const { record } = await writeCheckpoint(bucket, log, tip.sequence, { asStart: true });
  const start = { sequence: tip.sequence, documents, epoch: 1, root: record.root };
  await past.log.restart(start);
  await past.save();
  const report = await past.verify({ deep: true });
  expect(report).toMatchObject({ problems: [], documents, sequence: tip.sequence, slots: 0 });
  expect(report.packed).toBeGreaterThan(documents / 2);
  // Of an earlier life.
  const key = checkpointKey(sequence(tip.sequence - 1), 1);
  await past.bench.put(key, 'whatever it was');
  expect(await past.verify()).toMatchObject({ problems: [], dead: { earlier: 1 } });
  await past.restore();
  expect(report.blobs).toBeGreaterThan(0);
  expect(report.objects).toBe(
    (await past.derived('root', 'run', 'segment', 'versions', 'pack')).length,
  );
  for (const kind of ['root', 'run', 'segment', 'versions', 'pack'] as const) {
    const [key = ''] = await past.derived(kind);
    const bytes = Buffer.from(await past.bench.bytes(key));
    bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
    await past.bench.put(key, bytes);
    expect(await past.named()).toContain(key);
    await past.restore();
  }
  // The pack that the life began with, and what its log inlines, share a unit.
  expect(tip.sequence % 1024).toBeGreaterThan(0);
  await past.checkpoints([tip.sequence + 1100]);
  const [newest = ''] = await past.records();
  const root = await past.root(newest);
  expect(root.packs.some(({ first }) => first > tip.sequence)).toBe(true);
  expect(await past.verify()).toMatchObject({ problems: [], checkpoints: 1 });
  const packs = root.packs.filter(({ first }) => first <= tip.sequence);
  const forged = await past.forgeRoot(newest, { ...root, packs });
  expect(await past.named()).toEqual([forged]);
});

test('a root may pack up to a slot that is not right, and not less', async () => {
  const world = new VerifyBench(23, { paths: 40, batch: 100, hot: 5 });
  await world.log.begin();
  await world.log.writeTo(1100);
  await world.log.write('/odd.md', 'no stored version');
  const odd = slotKey(world.log.state.tip.sequence);
  await world.checkpoints([3200]);
  const [newest = ''] = await world.records();
  const root = await world.root(newest);
  expect(root.packed_through).toBe(3072);
  expect(await world.named()).toEqual([odd]);
  for (const [through, named] of [
    [1024, []],
    [2048, ['root']],
  ] as const) {
    const packs = root.packs.filter(({ last }) => last <= through);
    const forged = await world.forgeRoot(newest, { ...root, packed_through: through, packs });
    expect(await world.named()).toEqual([odd, ...named.map(() => forged)]);
  }
});
