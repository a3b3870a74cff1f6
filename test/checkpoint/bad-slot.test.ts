/**
 * Goal: a slot that is damaged or gone after it was applied stops packing at its unit, and nothing
 * else: checkpoints go on, say so, and pack what is behind once the slot is there again.
 * Method: a compactor on a log of real stored versions, some units long; slots at the start, in the
 * middle, at the end of a unit and across it, harmed behind a checkpoint; requests are counted.
 */
import { describe, expect, test } from 'vitest';
import { type Logger, silentLogger } from '../../bucketstore/base/diagnostics.ts';
import { type Sequence, sequence } from '../../bucketstore/base/sequence.ts';
import { LOG_PREFIX, slotKey } from '../../bucketstore/log/names.ts';
import { uuidOf } from '../log/values.ts';
import { unavailable, withFaults } from '../support/faulty-bucket.ts';
import { withGates } from '../support/gated-bucket.ts';
import { failureOf } from '../support/outcome.ts';
import { VerifyBench } from './verify-world.ts';

const UNIT = 1024;

interface Warning {
  readonly object: unknown;
  readonly packedThrough: unknown;
}

/** A log in units of which the second is not complete at its only checkpoint. */
async function scene(seed: number) {
  const world = new VerifyBench(seed, { paths: 150, batch: 90, hot: 10 });
  await world.checkpoints([1700]);
  const warnings: Warning[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: ({ object, packedThrough }) => warnings.push({ object, packedThrough }),
  };
  const gated = withGates(world.bench.bucket);
  const compact = async (): Promise<number> => {
    const store = await world.bench.open({ create: false, bucket: gated.store, logger });
    warnings.length = 0;
    gated.calls.length = 0;
    const { written } = await world.bench.run(store.compact());
    await world.bench.run(store.close());
    return written;
  };
  const packedThrough = async (): Promise<number> => {
    const [newest = ''] = (await world.records()).slice(-1);
    return (await world.root(newest)).packed_through;
  };
  /** Where the slot begins that holds a sequence. */
  const slotOf = (at: number): Sequence => {
    return world.log.slots.findLast((first) => first <= at) ?? sequence(2);
  };
  return { world, warnings, gated, compact, packedThrough, slotOf };
}

type Harm = (world: VerifyBench, key: string) => Promise<void>;

const HARMS: { readonly [words: string]: Harm } = {
  damaged: async ({ bench }, key) => {
    const bytes = Buffer.from(await bench.bytes(key));
    bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
    await bench.put(key, bytes);
  },
  gone: async ({ bench }, key) => {
    await bench.bucket.delete(key);
  },
};

describe.each(Object.entries(HARMS))('a slot that is %s', (words, harm) => {
  test.each([
    ['in the middle of its unit', 1300],
    ['across the start of its unit', UNIT + 1],
    ['at the end of the checkpoint', 1700],
  ])('%s keeps its unit from being packed, and nothing else', async (_, at) => {
    const { world, warnings, compact, packedThrough, slotOf } = await scene(at);
    const key = slotKey(slotOf(at));
    await world.log.writeTo(3300);
    const whole = await world.bench.bytes(key);
    await harm(world, key);
    expect(await compact()).toBe(1);
    expect(await packedThrough()).toBe(UNIT);
    expect(warnings).toEqual([
      { object: expect.stringContaining(LOG_PREFIX), packedThrough: UNIT },
    ]);
    if (words === 'damaged') expect(warnings[0]?.object).toBe(key);
    const named = await world.named();
    expect(named).toHaveLength(1);
    if (words === 'damaged') expect(named).toEqual([key]);
    // Once more, with a unit more behind it, and again when the slot is back.
    await world.log.writeTo(4300);
    expect(await compact()).toBe(1);
    expect(await packedThrough()).toBe(UNIT);
    await world.bench.put(key, whole);
    await world.log.writeTo(4400);
    expect(await compact()).toBe(1);
    expect(warnings).toEqual([]);
    expect(await packedThrough()).toBe(4 * UNIT);
    const [newest = ''] = (await world.records()).slice(-1);
    const { problems } = await world.verify({ deep: true });
    expect(problems.filter(({ problem }) => !problem.startsWith('packed_through: '))).toEqual([]);
    expect(problems.map(({ object }) => object)).not.toContain(newest);
  });
});

test('a slot that is packed already may be damaged', async () => {
  const { world, warnings, compact, packedThrough, slotOf } = await scene(3);
  const last = slotOf(UNIT);
  const before = slotOf(last - 1);
  await world.log.writeTo(2200);
  await HARMS['damaged']?.(world, slotKey(before));
  expect(await compact()).toBe(1);
  expect([warnings, await packedThrough()]).toEqual([[], 2 * UNIT]);
});

test('what is whole in a unit that is not packed is read all the same', async () => {
  const { world, compact, slotOf } = await scene(4);
  await world.log.writeTo(1750);
  await world.log.write('/before.md');
  const at = world.log.state.tip.sequence;
  await world.log.writeTo(1900);
  const bad = slotOf(at + 1);
  await world.checkpoints([1960]);
  await world.log.writeTo(2200);
  await HARMS['damaged']?.(world, slotKey(bad));
  expect(await compact()).toBe(1);
  const store = await world.bench.open({ create: false });
  const { body } = await world.bench.run(store.view().get('/before.md'));
  expect(Buffer.from(body).toString()).toBe('/before.md');
  await world.bench.bucket.delete(slotKey(at));
  const other = await world.bench.open({ create: false });
  expect(await failureOf(world.bench.run(other.view().get('/before.md')))).toMatchObject({
    code: 'INTEGRITY',
  });
});

test('another attempt costs the slots of one unit, however much is behind', async () => {
  const { world, gated, compact, packedThrough, slotOf } = await scene(5);
  await world.log.writeTo(2200);
  await HARMS['damaged']?.(world, slotKey(slotOf(1300)));
  expect(await compact()).toBe(1);
  const slotsOfUnit = world.log.slots.filter((first) => first <= 2 * UNIT && first > UNIT - 256);
  for (const end of [3300, 5300]) {
    const { sequence: tip } = world.log.state.tip;
    await world.log.writeTo(end);
    const step = world.log.slots.filter((first) => first > tip);
    expect(await compact()).toBe(1);
    const read = gated.calls.filter(({ operation, key }) => {
      return operation === 'get' && key.startsWith(LOG_PREFIX);
    });
    expect(read.length).toBeGreaterThan(step.length);
    expect(read.length).toBeLessThanOrEqual(step.length + slotsOfUnit.length + 1);
  }
  expect(await packedThrough()).toBe(UNIT);
});

test('a slot that is not answered for ends the step, and is packed when it is', async () => {
  const { world, compact, packedThrough, slotOf } = await scene(6);
  await world.log.writeTo(2200);
  const key = slotKey(slotOf(1300));
  const { bench } = world;
  const faulty = withFaults(bench.bucket, [], { timing: bench.clock });
  const store = await bench.open({ create: false, bucket: faulty.store });
  faulty.add({ fault: unavailable(), operation: 'get', key: (one) => one === key, times: 1_000 });
  expect(await failureOf(bench.run(store.compact()))).toMatchObject({ code: 'UNAVAILABLE' });
  expect(faulty.hits()[0]).toBeGreaterThan(0);
  expect(await world.records()).toHaveLength(1);
  expect(await compact()).toBe(1);
  expect(await packedThrough()).toBe(2 * UNIT);
});

test('slots that a floor has freed are no reason to pack less', async () => {
  const world = new VerifyBench(7, { paths: 150, batch: 90, hot: 10 });
  await world.checkpoints([2500, 3300]);
  const [, newest = ''] = await world.records();
  // As the newest checkpoint allows it, which turns out to be damaged.
  const floor = { kind: 'floor', op: uuidOf(1), at: sequence(2400), mutation: sequence(2399) };
  await world.log.control(floor as Parameters<typeof world.log.control>[0]);
  for (const { first, last } of await world.bench.slots()) {
    if (last < 2400) await world.bench.bucket.delete(slotKey(first));
  }
  const key = await world.forgeRoot(newest, await world.root(newest));
  await world.bench.bucket.delete(key);
  await world.log.writeTo(3400);
  const store = await world.bench.open({ create: false });
  const error = await failureOf(world.bench.run(store.compact()));
  expect(error).toMatchObject({ code: 'INTEGRITY' });
  expect(await world.records()).toHaveLength(2);
});
