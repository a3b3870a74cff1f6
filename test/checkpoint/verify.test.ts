/**
 * Goal: verification finds nothing in a world with checkpoints where nothing is wrong, and names
 * each derived object that is damaged, missing, or says otherwise than the log.
 * Method: a log of real stored versions and checkpoints that the compactor made of it; all objects
 * of some kinds damaged in one place, none of which leads to another; and forged ones, valid by
 * themselves, each in the place of a right one.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { CheckpointRecord } from '../../bucketstore/log/records.ts';
import { forgeStates, forgeVersions, STATE_CHANGES, VERSION_CHANGES } from './verify-forge.ts';
import { VerifyBench } from './verify-world.ts';

const world = new VerifyBench(5, { paths: 120, batch: 200, hot: 45 });
await world.checkpoints([900, 2300]);
await world.log.control({
  ...{ kind: 'pin', op: '44444444-4444-4444-8444-444444444444', id: 'a-backup' },
  ...{ owner: 'somebody', expires: 1_800_000_000 },
});
await world.checkpoints([3100]);
await world.log.writeTo(3300);
await world.save();
const records = await world.records();
const [, second = '', newest = ''] = records;

afterEach(() => world.restore());

const KINDS = ['record', 'root', 'run', 'segment', 'versions', 'history', 'pack'] as const;
/** Kinds of which none names another: all of them may be damaged at once. */
const GROUPS = [
  ['segment', 'versions', 'pack'],
  ['history'],
  ['run'],
  ['root'],
  ['record'],
] as const;

describe('a world with checkpoints', () => {
  test('is right, and everything in it was read', async () => {
    const seen: number[] = [];
    const report = await world.verify({ onProgress: ({ objects }) => seen.push(objects) });
    expect(report).toMatchObject({ problems: [], checkpoints: 3, sequence: 3402, documents: 121 });
    const there = await world.derived(...KINDS.slice(1));
    expect(report.objects).toBe(there.length);
    expect(seen.at(-1)).toBe(there.length);
    for (const kind of KINDS) {
      expect(report.derived?.there[kind].objects).toBeGreaterThan(0);
      expect(report.derived?.unused[kind].objects).toBe(0);
    }
    expect(await world.verify({ deep: true })).toEqual({ ...report, deep: true });
  });

  test.each<[string, (bytes: Buffer) => Uint8Array | null]>([
    ['missing', () => null],
    ['cut', (bytes) => bytes.subarray(0, -1)],
    ['longer', (bytes) => Buffer.concat([bytes, Buffer.from('x')])],
    ...[0, 0.04, 0.3, 0.6, 0.9, 1].map((part): [string, (bytes: Buffer) => Uint8Array] => [
      `damaged at ${part} of its length`,
      (bytes) => flipped(bytes, Math.round(part * (bytes.length - 1))),
    ]),
  ])('names each object that is %s', async (_, change) => {
    for (const kinds of GROUPS) {
      const keys = await world.derived(...kinds);
      for (const key of keys) await damage(key, change);
      const isGoneRecord = kinds[0] === 'record' && (await world.records()).length === 0;
      expect(await world.named()).toEqual(isGoneRecord ? [] : [...keys].sort());
      await world.restore();
    }
  });

  test('names each object that has the bytes of another of its kind', async () => {
    for (const kind of KINDS) {
      const keys = await world.derived(kind);
      const all = await Promise.all(keys.map((key) => world.bench.bytes(key)));
      for (const [index, key] of keys.entries()) {
        await world.bench.put(key, all[(index + 1) % all.length] ?? '');
      }
      expect(keys.length).toBeGreaterThan(1);
      expect(await world.named()).toEqual([...keys].sort());
      await world.restore();
    }
  });

  test('counts what no checkpoint needs, and does not call it wrong', async () => {
    const [segment = ''] = await world.derived('segment');
    const orphan = segment.replace(/[0-9a-f]{64}/, '0'.repeat(64));
    await world.bench.put(orphan, 'whatever');
    await world.bench.put('_demarkus/v1/packs/notes.txt', 'x');
    const { problems, derived } = await world.verify();
    expect(problems).toEqual([]);
    expect(derived?.unused.segment).toEqual({ objects: 1, bytes: 8 });
    expect(derived?.unknown).toEqual(['_demarkus/v1/packs/notes.txt']);
    await world.bench.put('_demarkus/v1/checkpoints/notes.txt', 'x');
    expect(await world.named()).toEqual(['_demarkus/v1/checkpoints/notes.txt']);
  });
});

describe('a record that is valid', () => {
  test.each<[string, (record: CheckpointRecord) => Partial<CheckpointRecord>]>([
    ['documents', ({ documents }) => ({ documents: documents - 1 })],
    ['slot', () => ({ slot: '0'.repeat(64) })],
    ['time', ({ time }) => ({ time: time + 1 })],
    ['floor', () => ({ floor: { at: sequence(3), mutation: sequence(2) } })],
    ['mutation', ({ mutation }) => ({ mutation: sequence(mutation - 1) })],
    ['pins', () => ({ pins: [] })],
    ['swept', ({ swept }) => ({ swept: { ...swept, pruned: swept.pruned + 1 } })],
    ['swept', ({ swept }) => ({ swept: { ...swept, retained: swept.retained - 1 } })],
  ])('is named when it says other %s', async (field, change) => {
    await world.forgeRecord(newest, change(await world.record(newest)));
    const said = await world.said();
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(`${newest}: ${field}: `);
    expect(said[0]).toContain('the log says');
  });

  test('is named when it is of another world', async () => {
    await world.forgeRecord(second, { worldId: '55555555-5555-4555-8555-555555555555' });
    expect(await world.named()).toEqual([second]);
  });

  test('is named when it is of a sequence inside a slot, or beyond the log', async () => {
    const record = await world.record(second);
    for (const [change, words] of [
      [-1, `sequence: ${record.sequence - 1} is no end of a slot`],
      [100_000, 'is beyond the log'],
    ] as const) {
      const at = sequence(record.sequence + change);
      const key = await world.copyRecord(second, at);
      expect((await world.said()).join('\n')).toContain(`${key}: ${words}`);
      await world.restore();
    }
  });
});

describe('a root that is valid', () => {
  test('is named when it packs less', async () => {
    const root = await world.root(newest);
    const packed_through = root.packed_through - 1024;
    const packs = root.packs.filter(({ last }) => last <= packed_through);
    const key = await world.forgeRoot(newest, { ...root, packed_through, packs });
    expect(await world.said()).toEqual([expect.stringContaining(`${key}: packed_through: `)]);
  });

  test('is named when a pack is left out', async () => {
    const root = await world.root(newest);
    const key = await world.forgeRoot(newest, { ...root, packs: root.packs.slice(1) });
    expect(await world.said()).toEqual([expect.stringContaining(`${key}: packs: 0 versions`)]);
  });

  test('is named when it is of other runs, and when it is another checkpoint’s', async () => {
    const root = await world.root(newest);
    const [base, ...runs] = root.runs;
    if (base === undefined) throw new Error('a root without a base');
    const forged = await world.forgeRoot(newest, { ...root, runs: [base, ...runs.slice(1)] });
    expect(await world.named()).toEqual([forged]);
    await world.restore();
    const other = await world.forgeRoot(newest, await world.root(second));
    expect(await world.named()).toEqual([other]);
  });

  test.each(Object.entries(STATE_CHANGES))('has its run named, which %s', async (words, change) => {
    const { runs, ...root } = await world.root(newest);
    const tail = runs.at(-1);
    if (tail === undefined) throw new Error('a root without runs');
    const [forged, keys] = await forgeStates(world.bench, tail, change);
    await world.forgeRoot(newest, { ...root, runs: [...runs.slice(0, -1), forged] });
    expect((await world.said()).join('\n')).toContain(words);
    expect(keys).toEqual(expect.arrayContaining([...(await world.named())]));
  });

  test.each(Object.entries(VERSION_CHANGES))(
    'has its record run named, which %s',
    async (words, change) => {
      const { records: runs, ...root } = await world.root(newest);
      const tail = runs.at(-1);
      if (tail === undefined) throw new Error('a root without record runs');
      const [forged, keys] = await forgeVersions(world.bench, world.log.state, tail, change);
      await world.forgeRoot(newest, { ...root, records: [...runs.slice(0, -1), forged] });
      expect((await world.said()).join('\n')).toContain(words);
      expect(keys).toEqual(expect.arrayContaining([...(await world.named())]));
    },
  );
});

function flipped(bytes: Buffer, at: number): Uint8Array {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ 1;
  return changed;
}

async function damage(key: string, change: (bytes: Buffer) => Uint8Array | null): Promise<void> {
  const changed = change(Buffer.from(await world.bench.bytes(key)));
  if (changed === null) await world.bench.bucket.delete(key);
  else await world.bench.put(key, changed);
}
