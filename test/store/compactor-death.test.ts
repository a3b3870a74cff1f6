/**
 * Goal: a compactor that dies has cost nothing but its own work: the world is what it was, and the
 * next one finishes with the very same bytes (I4). A damaged checkpoint is built on no more.
 * Method: the objects that a compaction writes, in order, from a run that was left alone; then the
 * bucket dies at one of each kind, before or after it takes effect, and another store opens.
 */
import { describe, expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { type Call, type CallResult, decorate, type Send } from '../../blob/decorate.ts';
import { type Logger, silentLogger } from '../../bucketstore/base/diagnostics.ts';
import {
  CHECKPOINTS_PREFIX,
  LOG_PREFIX,
  MARKER_KEY,
  parseKey,
} from '../../bucketstore/log/names.ts';
import type { World } from '../../bucketstore/world.ts';
import type { Compacted } from '../../checkpoint/compactor.ts';
import { drain } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { WorldBench } from '../support/world-bench.ts';
import { contents, copyOf, objectsOf, scribble } from './scribble.ts';

type Objects = ReadonlyMap<string, string>;

interface Reference {
  /** With a checkpoint, and more than a unit of log. */
  readonly before: Objects;
  /** What can be read then. */
  readonly contents: unknown;
  /** With the next checkpoint. */
  readonly after: Objects;
  /** Keys of what that took, in the order of their creation. */
  readonly created: readonly string[];
}

async function reference(): Promise<Reference> {
  const bench = new WorldBench(1);
  const random = new SeededRandom(1);
  const world = await bench.open();
  await scribble(bench, world, random, 500);
  await bench.run(world.compact());
  // So that there is a history block, and a pack.
  const publish = (n: number) => {
    return world.publish({ path: '/history.md', expected: 'any', body: `${n}` });
  };
  await bench.run(Promise.all(Array.from({ length: 300 }, (_, n) => publish(n))));
  await scribble(bench, world, random, 900);
  const before = await objectsOf(bench);
  const seen = await contents(bench, world);
  const created: string[] = [];
  const watching = decorate(bench.bucket, async (call, send) => {
    if (call.operation === 'create') created.push(call.key);
    return send();
  });
  const other = await bench.open({ bucket: watching });
  expect(await bench.run(other.compact())).toMatchObject({ written: 1 });
  return { before, contents: seen, after: await objectsOf(bench), created };
}

const told = await reference();

function kindOf(key: string): string {
  const name = parseKey(key);
  return name?.kind === 'index' ? name.type : (name?.kind ?? 'nothing');
}

/** The first and the last object of each kind. */
function targets(): readonly (readonly [kind: string, key: string, when: 'before' | 'after'])[] {
  const kinds = new Set(told.created.map(kindOf));
  return [...kinds].flatMap((kind) => {
    const of = told.created.filter((key) => kindOf(key) === kind);
    const ends = [...new Set([of[0] ?? '', of.at(-1) ?? ''])];
    return ends.flatMap((key) => [[kind, key, 'before'] as const, [kind, key, 'after'] as const]);
  });
}

/** A bucket that answers nothing from one create on. */
function dying(below: BlobStore, key: string, when: 'before' | 'after') {
  let dead = false;
  const never = (): Promise<never> => new Promise(() => undefined);
  const around = async <T extends CallResult>(call: Call, send: Send<T>): Promise<T> => {
    if (dead) return never();
    if (call.operation !== 'create' || call.key !== key) return send();
    dead = true;
    if (when === 'after') await send();
    return never();
  };
  return { store: decorate(below, around), isDead: () => dead };
}

test('the kinds of objects that a compaction writes are all met', () => {
  const kinds = new Set(told.created.map(kindOf));
  expect([...kinds].toSorted()).toEqual(
    ['checkpoint', 'history', 'pack', 'rec', 'root', 'run', 'seg'].toSorted(),
  );
  expect(kindOf(told.created.at(-1) ?? '')).toBe('checkpoint');
});

test.each(targets())('a compactor that dies at a %s harms nobody: %s, %s', async (_, key, when) => {
  const bench = await copyOf(told.before);
  const bucket = dying(bench.bucket, key, when);
  const world = await bench.open({ bucket: bucket.store });
  void world.compact().catch(() => undefined);
  for (let i = 0; i < 1000 && !bucket.isDead(); i++) await drain();
  await drain();
  expect(bucket.isDead()).toBe(true);
  const other = await bench.open();
  expect(await contents(bench, other)).toEqual(told.contents);
  const wasWhole = kindOf(key) === 'checkpoint' && when === 'after';
  expect(await bench.run(other.compact())).toMatchObject({ written: wasWhole ? 0 : 1 });
  expect(await objectsOf(bench)).toEqual(told.after);
});

interface Warned {
  readonly logger: Logger;
  readonly warnings: string[];
}

function warned(): Warned {
  const warnings: string[] = [];
  const warn: Logger['warn'] = (fields) => void warnings.push(String(fields['object']));
  return { logger: { ...silentLogger, warn }, warnings };
}

/** Cuts an object in half, or takes it away. */
async function damage(bench: WorldBench, key: string, how: string): Promise<void> {
  const bytes = await bench.bytes(key);
  await bench.bucket.delete(key);
  if (how === 'cut') await bench.put(key, bytes.subarray(0, bytes.length >> 1));
}

/**
 * Compacts. What is damaged and would have to be made again under the very same name stops it, by
 * that name; it is then taken away, as a repair would.
 */
async function compactAround(bench: WorldBench, world: World, key: string): Promise<Compacted> {
  try {
    return await bench.run(world.compact());
  } catch (error) {
    expect(error).toMatchObject({ code: 'INTEGRITY', details: { object: key } });
    await bench.bucket.delete(key);
    return bench.run(world.compact());
  }
}

describe('a checkpoint', () => {
  const named = told.created.filter((key) => kindOf(key) !== 'history');

  test.each(['cut', 'missing'])('with any object %s is built on no more', async (how) => {
    const whole = await copyOf(told.after);
    const writer = await whole.open();
    await scribble(whole, writer, new SeededRandom(5), 30);
    const before = await contents(whole, writer);
    const objects = await objectsOf(whole);
    for (const key of named) {
      const bench = await copyOf(objects);
      await damage(bench, key, how);
      const { logger, warnings } = warned();
      const world = await bench.open({ logger });
      const what = `${kindOf(key)} ${how}`;
      const { written, newest } = await compactAround(bench, world, key);
      expect(written, what).toBeGreaterThan(0);
      const isRecordGone = kindOf(key) === 'checkpoint' && how === 'missing';
      expect(warnings.length > 0, what).toBe(!isRecordGone);
      // Nothing that is damaged was written over, and what was made is whole.
      const made = await bench.open();
      expect(made.worldId).toBe(world.worldId);
      expect(newest?.sequence, what).toBe((await bench.run(made.stat())).sequence);
      if (kindOf(key) !== 'pack') expect(await contents(bench, made), what).toEqual(before);
    }
  });

  test('that is none at all leaves the log: it is made from the start', async () => {
    const bench = await copyOf(told.after);
    const records = await bench.keys(CHECKPOINTS_PREFIX);
    expect(records).toHaveLength(2);
    for (const key of records) await damage(bench, key, 'cut');
    const { logger, warnings } = warned();
    const world = await bench.open({ logger });
    expect(await contents(bench, world)).toEqual(told.contents);
    expect(new Set(warnings)).toEqual(new Set(records));
    const { written } = await bench.run(world.compact());
    // Both names are taken, and never written over: other slot ends are.
    expect(written).toBeGreaterThan(0);
    const made = (await bench.keys(CHECKPOINTS_PREFIX)).filter((key) => !records.includes(key));
    expect(made).toHaveLength(written);
    expect(await contents(bench, await bench.open())).toEqual(told.contents);
  });
});

test('a damaged slot stops the compactor, and nothing is written that counts', async () => {
  const bench = await copyOf(told.before);
  const world = await bench.open();
  const slots = [...told.before.keys()].filter((key) => key.startsWith(LOG_PREFIX));
  const key = slots.at(-2) ?? '';
  await damage(bench, key, 'cut');
  const records = await bench.keys(CHECKPOINTS_PREFIX);
  const failure = bench.run(world.compact());
  await expect(failure).rejects.toMatchObject({ code: 'INTEGRITY', details: { object: key } });
  expect(await bench.keys(CHECKPOINTS_PREFIX)).toEqual(records);
  expect(await bench.keys(MARKER_KEY)).toHaveLength(1);
});
