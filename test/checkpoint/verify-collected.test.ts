/**
 * Goal: verification of a world whose old slots are gone, rightly or wrongly, begins at the oldest
 * checkpoint from which the log can be followed, and says which it is.
 * Method: a log with checkpoints; slots below a floor removed, as a collector does it, and others;
 * records that a barrier did not name, and what they consist of.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { decorate } from '../../blob/decorate.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { slotKey } from '../../bucketstore/log/names.ts';
import type { DerivedKind } from '../../checkpoint/unused.ts';
import { forgeStates } from './verify-forge.ts';
import { VerifyBench } from './verify-world.ts';

const OP = '44444444-4444-4444-8444-444444444444';
const PLAN = 'a'.repeat(64);

const world = new VerifyBench(11, { paths: 150, batch: 200, hot: 10 });
await world.checkpoints([900, 2300, 3300]);
const records = await world.records();
const [older = '', kept = '', newest = ''] = records;
const { sequence: keptAt } = await world.record(kept);
const { sequence: newestAt } = await world.record(newest);
/** The oldest kept one has packed so far. */
const packed = (await world.root(kept)).packed_through;
await world.log.control({
  ...{ kind: 'floor', op: OP, at: sequence(packed), mutation: sequence(packed - 1) },
});
await world.log.writeTo(3700);
await world.save();

/** Removes slots whose last sequence is below one. */
async function removeBelow(floor: number): Promise<readonly string[]> {
  const { slots } = world.log;
  const gone = slots.filter((_, index) => (slots[index + 1] ?? floor + 1) <= floor);
  for (const first of gone) await world.bench.bucket.delete(slotKey(first));
  return gone.map((first) => slotKey(first));
}

/** Changes a bit in the middle of an object. */
async function damage(key: string): Promise<void> {
  const bytes = Buffer.from(await world.bench.bytes(key));
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await world.bench.put(key, bytes);
}

afterEach(() => world.restore());

describe('a world whose old slots are collected', () => {
  test('is right, and its bodies are read from packs with --deep', async () => {
    const whole = await world.verify();
    expect(whole).toMatchObject({ problems: [], checkpoints: records.length, packed: 0 });
    expect((await removeBelow(packed)).length).toBeGreaterThan(1);
    const report = await world.verify();
    expect(report).toMatchObject({ problems: [], sequence: whole.sequence });
    expect(report.checkpoints).toBe(records.length);
    expect(report.documents).toBe(whole.documents);
    expect(report.objects).toBe(whole.objects);
    const deep = await world.verify({ deep: true });
    expect(deep.problems).toEqual([]);
    expect(deep.packed).toBeGreaterThan(0);
  });

  test('is right when only some of them are gone yet', async () => {
    const gone = await removeBelow(packed);
    const [one = ''] = gone.slice(2);
    await world.restore();
    await world.bench.bucket.delete(one);
    expect(await world.verify()).toMatchObject({ problems: [] });
  });

  test('has each slot named that is missing above the floor', async () => {
    await removeBelow(packed);
    const missing = world.log.slots.filter((first) => first > packed);
    for (const first of [missing[0], missing[3]]) {
      if (first === undefined) throw new Error('slots above the floor');
      await world.bench.bucket.delete(slotKey(first));
      const said = await world.said();
      expect(said).toHaveLength(1);
      expect(said[0]).toMatch(/log\/.*(missing, while|lacks slots before)/);
      await world.restore();
      await removeBelow(packed);
    }
  });

  test('has a slot named that is missing, whatever else is wrong', async () => {
    await removeBelow(packed);
    const [missing] = world.log.slots.filter((first) => first > packed);
    if (missing === undefined || missing >= keptAt) throw new Error('a slot before a checkpoint');
    await world.bench.bucket.delete(slotKey(missing));
    const [pack = ''] = await world.derived('pack');
    const last = slotKey(world.log.slots.at(-1) ?? missing);
    for (const key of [pack, last]) await damage(key);
    const said = await world.said();
    expect(said).toHaveLength(3);
    expect(said[0]).toMatch(/log\/.* lacks slots before/);
    expect(said[1]).toContain(last);
    expect(said[2]).toContain(pack);
  });

  test('has what is damaged in it named', async () => {
    await removeBelow(packed);
    for (const kinds of [['segment', 'versions', 'pack'], ['run'], ['root'], ['record']] as const) {
      const keys = await world.derived(...kinds);
      for (const key of keys) await damage(key);
      expect(await world.named()).toEqual(expect.arrayContaining([...keys]));
      await world.restore();
      await removeBelow(packed);
    }
  });

  test('has a checkpoint named that holds a document above another', async () => {
    await removeBelow(packed);
    const { runs, ...root } = await world.root(kept);
    const tail = runs.at(-1);
    if (tail === undefined) throw new Error('a root without runs');
    const [forged] = await forgeStates(world.bench, tail, (states, one) => {
      // Of another run.
      const above = [...world.log.state.changed()].find(([path]) => !states.has(path))?.[0];
      const path = `${above}/below.md`;
      states.set(path, { ...one, path, first: one.current.version });
    });
    const { documents, swept } = await world.record(kept);
    const more = { ...swept, retained: swept.retained + 1 };
    await world.forgeRecord(kept, { documents: documents + 1, swept: more });
    const key = await world.forgeRoot(kept, { ...root, runs: [...runs.slice(0, -1), forged] });
    const said = await world.said();
    expect(said.find((one) => one.startsWith(key))).toMatch(/ is a document above .*below\.md/);
  });
});

describe('a world with a broken slot', () => {
  test('is followed from the next checkpoint on', async () => {
    const { slots } = world.log;
    const at = slots.find((first) => first > 1100);
    if (at === undefined) throw new Error('a slot in the middle');
    const key = slotKey(at);
    await damage(key);
    const report = await world.verify();
    expect(report.problems.map(({ object }) => object)).toEqual([key]);
    expect(report.sequence).toBe(world.log.state.tip.sequence);
    expect(report.checkpoints).toBe(records.length);
  });

  test.each<[number, readonly DerivedKind[]]>([
    [2, ['segment', 'versions', 'pack']],
    // Here runs of the replay are also those of the checkpoint that it goes on from.
    [1100, ['pack']],
  ])('behind %i has objects read whole once', async (from, kinds) => {
    const key = slotKey(world.log.slots.find((first) => first >= from) ?? sequence(from));
    await damage(key);
    const whole: string[] = [];
    const bucket = decorate(world.bench.bucket, async (_, send) => {
      const result = await send();
      const attributes = 'attributes' in result ? result.attributes : undefined;
      const isWhole = 'bytes' in result && result.bytes.length === attributes?.size;
      if (isWhole) whole.push(attributes.key);
      return result;
    });
    const { clock, random } = world.bench;
    expect(await world.named({ components: { clock, random, bucket } })).toEqual([key]);
    const keys = await world.derived(...kinds);
    expect(whole.filter((one) => keys.includes(one)).sort()).toEqual([...keys].sort());
  });
});

describe('a checkpoint that the latest barrier did not name', () => {
  test('is not looked into, and what only it consists of may be gone', async () => {
    const epoch = 1;
    await world.log.control({
      ...{ kind: 'barrier', op: OP, plan: PLAN },
      kept: [
        [sequence(keptAt), epoch],
        [sequence(newestAt), epoch],
      ],
    });
    const root = await world.root(older);
    const others = [await world.root(kept), await world.root(newest)];
    const own = root.runs.filter(({ hash }) => {
      return !others.some(({ runs }) => runs.some((run) => run.hash === hash));
    });
    expect(own.length).toBeGreaterThan(0);
    const runs = await world.derived('run');
    for (const { hash } of own) {
      await world.bench.bucket.delete(runs.find((key) => key.includes(hash)) ?? '');
    }
    const report = await world.verify();
    expect(report).toMatchObject({ problems: [], checkpoints: 2, dead: { checkpoints: 1 } });
    expect(report.derived?.unused.record.objects).toBe(1);
    expect(report.derived?.unused.root.objects).toBe(1);
  });
});
