/**
 * Goal: the world's policy is a condition of every write, judged on the state that the write
 * commits on.
 * Method: policies of each strictness, of each kind of wrong, and one that another store changes
 * while a write is under way.
 */
import { describe, expect, test } from 'vitest';
import type { StoreErrorCode, World } from '../../bucketstore/index.ts';
import { drain } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { withStalls } from '../support/stalling-bucket.ts';
import { WorldBench } from '../support/world-bench.ts';

const POLICY = '/.well-known/demarkus/policy.md';
const rules = (strictness: string): string =>
  `# Policy\n\nstrictness: ${strictness}\nrequire_tags: area\nrequire_fields: title\n`;

async function withPolicy(strictness: string, settings: object = {}) {
  const bench = new WorldBench();
  const world = await bench.open({ settings });
  await bench.run(setPolicy(world, rules(strictness)));
  return { bench, world };
}

const setPolicy = (world: World, body: string) =>
  world.publish({ path: POLICY, expected: 'any', body });

type Pairs = Readonly<Record<string, string>> | null;

const write = (world: World, metadata: Pairs, path = '/a.md') =>
  world.publish({ path, expected: 'any', body: JSON.stringify(metadata), metadata });

const GOOD = { title: 'T', tags: 'area:north' };

describe('PublishPolicyCAS', () => {
  test('warn lets everything through', async () => {
    const { bench, world } = await withPolicy('warn');
    expect((await bench.run(write(world, null))).committed).toBe(true);
  });

  test.each<[string, StoreErrorCode]>([
    ['block', 'POLICY_BLOCKED'],
    ['ask', 'APPROVAL_REQUIRED'],
  ])('%s refuses with %s and the violations in order', async (strictness, code) => {
    const { bench, world } = await withPolicy(strictness);
    const cases: readonly (readonly [Pairs, readonly RegExp[]])[] = [
      [null, [/tags/, /title/]],
      [{ title: 'T' }, [/tags/]],
      [{ tags: 'zone:x' }, [/area/, /title/]],
      [{ ...GOOD, importance: 'high' }, [/importance/]],
      [{ ...GOOD, title: '  ' }, [/title/]],
    ];
    for (const [metadata, words] of cases) {
      const error = await failureOf(bench.run(write(world, metadata)));
      expect(error).toMatchObject({ code, outcome: 'not committed' });
      const { violations } = (error as { details: { violations: string[] } }).details;
      expect(violations, JSON.stringify(metadata)).toHaveLength(words.length);
      for (const [index, word] of words.entries()) expect(violations[index]).toMatch(word);
    }
    expect((await bench.run(world.stat())).sequence).toBe(2);
    expect((await bench.run(write(world, GOOD))).committed).toBe(true);
  });

  test('append is judged by what it makes, not by what it brings', async () => {
    const { bench, world } = await withPolicy('block');
    await bench.run(write(world, GOOD));
    const append = (metadata: Pairs, expected: number) =>
      bench.run(world.append({ path: '/a.md', expected, content: 'more', metadata }));
    expect((await append(null, 1)).document.version).toBe(2);
    const error = await failureOf(append({ tags: 'other:x' }, 2));
    expect(error).toMatchObject({ code: 'POLICY_BLOCKED' });
  });

  test('conflict, archived and not modified are answered before it', async () => {
    const { bench, world } = await withPolicy('warn');
    await bench.run(write(world, null));
    await bench.run(write(world, null, '/b.md'));
    await bench.run(world.setArchived({ path: '/b.md', archived: true }));
    await bench.run(setPolicy(world, rules('block')));
    const stale = world.publish({ path: '/a.md', expected: 9, body: 'x' });
    expect(await failureOf(bench.run(stale))).toMatchObject({ code: 'CONFLICT' });
    expect(await failureOf(bench.run(write(world, { a: 'b' }, '/b.md')))).toMatchObject({
      code: 'ARCHIVED',
    });
    expect((await bench.run(write(world, null))).committed).toBe(false);
  });

  test.each([
    ['an unknown strictness', 'strictness: never\n'],
    ['a bad name', 'strictness: warn\nrequire_tags: a:b\n'],
    ['a repeated name', 'strictness: warn\nrequire_fields: title, title\n'],
    ['a field of the protocol', 'strictness: warn\nrequire_fields: version\n'],
    ['names that no document has room for', `require_fields: ${'x'.repeat(65)}\n`],
  ])('a policy with %s is refused', async (_, body) => {
    const bench = new WorldBench();
    const world = await bench.open();
    const error = await failureOf(bench.run(setPolicy(world, body)));
    expect(error).toMatchObject({ code: 'INVALID_POLICY' });
    expect((await bench.run(world.stat())).documents).toBe(0);
  });

  test('where one is required, without it nothing but it can be written', async () => {
    const bench = new WorldBench();
    const world = await bench.open({ settings: { requirePolicy: true } });
    expect(await failureOf(bench.run(write(world, GOOD)))).toMatchObject({
      code: 'INVALID_POLICY',
    });
    await bench.run(setPolicy(world, rules('block')));
    expect((await bench.run(write(world, GOOD))).committed).toBe(true);
    const archive = world.setArchived({ path: POLICY, archived: true });
    expect(await failureOf(bench.run(archive))).toMatchObject({ code: 'INVALID_POLICY' });
    const other = await bench.open();
    await bench.run(other.setArchived({ path: POLICY, archived: true }));
    expect(await failureOf(bench.run(write(world, GOOD, '/b.md')))).toMatchObject({
      code: 'INVALID_POLICY',
    });
    await bench.run(write(other, null, '/c.md'));
  });

  test('a policy that another store changed during the race is the one that counts', async () => {
    for (const [first, second, expected] of [
      ['warn', 'block', 'POLICY_BLOCKED'],
      ['block', 'warn', null],
    ] as const) {
      const bench = new WorldBench();
      const stalling = withStalls(bench.bucket);
      const world = await bench.open({ bucket: stalling.store });
      const other = await bench.open();
      await bench.run(setPolicy(world, rules(first)));
      await bench.run(other.stat());
      // The create is on its way when the other store takes its name.
      stalling.stall({ mode: 'lands-later', key: (key) => key.includes('/log/') });
      const writes = Promise.allSettled([
        write(world, GOOD, '/good.md'),
        write(world, first === 'warn' ? null : GOOD, '/other.md'),
      ]);
      await drain();
      await bench.run(setPolicy(other, rules(second)));
      await stalling.release();
      const [good, changed] = await bench.run(writes);
      expect(good).toMatchObject({ status: 'fulfilled', value: { sequence: 4 } });
      if (expected === null) expect(changed.status).toBe('fulfilled');
      else expect(changed).toMatchObject({ status: 'rejected', reason: { code: expected } });
    }
  });

  test('members behind a policy in one batch are judged by it', async () => {
    const bench = new WorldBench();
    const world = await bench.open();
    const writes = [
      write(world, null, '/before.md'),
      setPolicy(world, rules('block')),
      write(world, null, '/after.md'),
    ];
    const [before, policy, after] = await bench.run(Promise.allSettled(writes));
    expect(before?.status).toBe('fulfilled');
    expect(policy?.status).toBe('fulfilled');
    expect(after).toMatchObject({ status: 'rejected', reason: { code: 'POLICY_BLOCKED' } });
    expect(await bench.slots()).toHaveLength(1);
  });
});

test('a quota refuses new documents only, archived ones counted', async () => {
  const bench = new WorldBench();
  const world = await bench.open({ settings: { documentsMax: 2 } });
  await bench.run(write(world, null, '/a.md'));
  await bench.run(write(world, null, '/b.md'));
  await bench.run(world.setArchived({ path: '/b.md', archived: true }));
  expect(await failureOf(bench.run(write(world, null, '/c.md')))).toMatchObject({ code: 'QUOTA' });
  expect((await bench.run(write(world, GOOD, '/a.md'))).document.version).toBe(2);
});
