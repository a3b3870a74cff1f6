/**
 * Goal: requests become slots in queue order, each judged at the tip plus those before it (I5),
 * by any number of stores on one log, none of them lost (I6).
 * Method: slot creates are held or raced under virtual time; the log itself is then read.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, test } from 'vitest';
import { type Call, decorate } from '../../blob/decorate.ts';
import { withLatencyModel } from '../../blob/model.ts';
import type { StateReader, World } from '../../bucketstore/index.ts';
import { withGates } from '../support/gated-bucket.ts';
import { drain } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { Schedule, withSchedule } from '../support/scheduled-bucket.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { WorldBench } from '../support/world-bench.ts';

const isSlot = (key: string): boolean => key.includes('/log/');

const write = (world: World, path: string, expected: number | 'any' | 'absent' = 'absent') =>
  world.publish({ path, expected, body: `${path} at ${expected} by ${world.storeId}` });

describe('BatchCommitsInQueueOrder', () => {
  test('BatchCommitsInQueueOrder: six queued requests are answered in their order', async () => {
    const bench = new WorldBench();
    const world = await bench.open();
    await bench.run(write(world, '/old.md'));
    const answered: string[] = [];
    const note = (name: string) => (): void => {
      answered.push(name);
    };
    const requests = [
      write(world, '/b.md').then(note('b')),
      write(world, '/old.md').catch(note('conflict')),
      write(world, '/a.md').then(note('a')),
      write(world, '/a.md').catch(note('conflict in the batch')),
      write(world, '/a.md', 1).then(note('a on top')),
      world.setArchived({ path: '/b.md', archived: true }).then(note('archive')),
    ];
    await bench.run(Promise.all(requests));
    expect(answered).toEqual([
      'b',
      'conflict',
      'a',
      'conflict in the batch',
      'a on top',
      'archive',
    ]);
    const [, slot] = await bench.slots();
    const entries = slot?.entries.map((entry) => ('path' in entry ? entry.path : entry.kind));
    expect(entries).toEqual(['/b.md', '/a.md', '/a.md', '/b.md']);
  });

  test('BatchCommitsInQueueOrder: four queued requests become one slot', async () => {
    const bench = new WorldBench();
    const gated = withGates(bench.bucket);
    const world = await bench.open({ bucket: gated.store });
    const peer = await bench.open();
    const isCreate = ({ operation, key }: Call): boolean => operation === 'create' && isSlot(key);
    const held = gated.hold('request', isCreate);
    const runs = { kept: 0, last: 0 };
    const counted = (name: keyof typeof runs) => async (state: StateReader) => {
      runs[name] += 1;
      await failureOf(state.get(`/read-by-${name}.md`));
    };
    const blind = (path: string, body: string, precondition: Counting) =>
      world.publish({ path, expected: 'any', body, precondition });
    const outcomes = Promise.allSettled([
      blind('/kept.md', 'kept '.repeat(5_000), counted('kept')),
      write(world, '/contested.md'),
      write(world, '/contested.md'),
      blind('/last.md', 'last', counted('last')),
    ]);
    let settled = false;
    const settle = (): void => {
      settled = true;
    };
    outcomes.then(settle, settle);
    await drain();
    expect([held.waiting, settled], 'no refusal before its slot settles').toEqual([1, false]);
    await bench.run(write(peer, '/contested.md'));
    const told = await commitsOf(async () => {
      await held.open();
      const [kept, contested, repeat, last] = await bench.run(outcomes);
      expect(kept).toMatchObject({ status: 'fulfilled', value: { sequence: 3 } });
      for (const lost of [contested, repeat]) {
        expect(lost).toMatchObject({ status: 'rejected', reason: { code: 'CONFLICT' } });
      }
      expect(last).toMatchObject({ status: 'fulfilled', value: { sequence: 4 } });
    });
    expect(runs, 'what is kept is not judged again').toEqual({ kept: 1, last: 1 });
    const staged = gated.calls.filter(({ key }) => key.includes('/blobs/'));
    expect(
      staged.map(({ operation }) => operation),
      'nor staged again',
    ).toEqual(['create']);
    expect((await bench.slots()).map(({ store, entries }) => [store, entries.length])).toEqual([
      [peer.storeId, 1],
      [world.storeId, 2],
    ]);
    expect(told, 'each slot is told of once').toMatchObject([{ first: 3, entries: 2 }]);
  });
});

type Counting = (state: StateReader) => Promise<void>;

/** What is told of slots that were committed meanwhile. */
async function commitsOf(act: () => Promise<void>): Promise<readonly unknown[]> {
  const told: unknown[] = [];
  const note = (event: unknown): void => {
    told.push(event);
  };
  subscribe('bucketstore:commit', note);
  await act().finally(() => unsubscribe('bucketstore:commit', note));
  return told;
}

test('BatchLimit: 60 queued are batches of 16, 32 and 12, then 16 again', async () => {
  const bench = new WorldBench();
  const world = await bench.open();
  const batch = (count: number, name: string) =>
    Promise.all(Array.from({ length: count }, (_, i) => write(world, `/${name}/${i}.md`)));
  await bench.run(batch(60, 'a'));
  await bench.run(batch(20, 'b'));
  const sizes = (await bench.slots()).map(({ entries }) => entries.length);
  expect(sizes).toEqual([16, 32, 12, 16, 4]);
});

test('a batch is bounded by bytes too: 300 large versions are committed', async () => {
  const bench = new WorldBench();
  const world = await bench.open();
  const body = (i: number) => `${i} ${'x'.repeat(15_000)}`;
  const paths = Array.from({ length: 300 }, (_, i) => `/${i}.md`);
  const writes = paths.map((path, i) => world.publish({ path, expected: 'absent', body: body(i) }));
  await bench.run(Promise.all(writes));
  const slots = await bench.slots();
  expect(slots.flatMap(({ entries }) => entries)).toHaveLength(300);
  for (const { inlined } of slots) {
    expect(inlined.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(1024 * 1024);
  }
});

describe.each([2, 3])('StoresShareOneLog (%i stores)', (count) => {
  const WRITES = 30;

  /** Writers of every store at once; returns the stores when all have been answered. */
  async function share(bench: WorldBench, stores: readonly World[]): Promise<void> {
    const writes = stores.flatMap((store, s) =>
      Array.from({ length: WRITES }, (_, i) => write(store, `/${s}/${i}.md`)),
    );
    const blind = stores.flatMap((store) =>
      Array.from({ length: 5 }, (_, i) => write(store, `/blind/${i}.md`, 'any')),
    );
    await bench.run(Promise.all([...writes, ...blind]));
  }

  async function check(bench: WorldBench, stores: readonly World[]): Promise<void> {
    const slots = await bench.slots();
    const entries = slots.flatMap((slot) => slot.entries);
    expect(entries).toHaveLength(stores.length * (WRITES + 5));
    expect(slots.some((slot) => slot.entries.length > 1)).toBe(true);
    expect(new Set(slots.map(({ store }) => store)).size).toBe(stores.length);
    const tips = await Promise.all(stores.map((store) => bench.run(store.stat())));
    for (const tip of tips) expect(tip.sequence).toBe(entries.length + 1);
    const blind = await bench.run((await bench.open()).view().versions('/blind/0.md'));
    expect(blind).toHaveLength(stores.length);
  }

  test('StoresShareOneLog: nothing is lost behind the latency of a service', async () => {
    const bench = new WorldBench(count);
    let taken = 0;
    const counting = decorate(bench.bucket, async (_, send) => {
      const result = await send();
      if ('outcome' in result && result.outcome === 'exists') taken++;
      return result;
    });
    const model = { timing: bench.clock, chance: bench.random, model: 'gcs' } as const;
    const bucket = withLatencyModel(counting, model);
    const stores: World[] = [];
    for (let i = 0; i < count; i++) stores.push(await bench.open({ bucket }));
    await share(bench, stores);
    expect(taken, 'at least one name was lost').toBeGreaterThan(0);
    await check(bench, stores);
  });

  test.each([1, 2, 3, 4, 5])(
    'StoresShareOneLog: in any interleaving of calls, seed %i',
    async (seed) => {
      const bench = new WorldBench(seed);
      const schedule = new Schedule({ source: new SeededRandom(seed), clock: bench.clock });
      const bucket = withSchedule(bench.bucket, schedule);
      const stores: World[] = [];
      for (let i = 0; i < count; i++) stores.push(await schedule.run(bench.opening({ bucket })));
      const writes = stores.flatMap((store, s) =>
        Array.from({ length: 8 }, (_, i) => {
          const path = i % 2 ? `/${s}/${i}.md` : '/b.md';
          return store.publish({ path, expected: 'any', body: `${s} ${i}` });
        }),
      );
      await schedule.run(Promise.all(writes));
      const entries = (await bench.slots()).flatMap((slot) => slot.entries);
      expect(entries).toHaveLength(count * 8);
      const versions = await bench.run((await bench.open()).view().versions('/b.md'));
      expect(versions).toHaveLength(count * 4);
      await bench.run((await bench.open()).view().verifyChain('/b.md'));
    },
  );
});

describe('races of two stores', () => {
  /** Both write at once on states that do not know of each other. */
  async function race<A, B>(
    before: (world: World) => Promise<unknown>,
    one: (world: World) => Promise<A>,
    other: (world: World) => Promise<B>,
  ) {
    const bench = new WorldBench();
    const [a, b] = [await bench.open(), await bench.open()];
    await bench.run(before(a));
    await bench.run(b.stat());
    const outcomes = await bench.run(Promise.allSettled([one(a), other(b)]));
    return { bench, outcomes, cold: await bench.open() };
  }
  const statuses = (outcomes: readonly { readonly status: string }[]) =>
    outcomes.map(({ status }) => status).sort();

  test('SamePathConflicts: for one path exactly one wins', async () => {
    const one = (world: World) => write(world, '/a.md', 1);
    const { bench, outcomes, cold } = await race((world) => write(world, '/a.md'), one, one);
    expect(statuses(outcomes)).toEqual(['fulfilled', 'rejected']);
    const refusal = outcomes.find(({ status }) => status === 'rejected');
    expect(refusal).toMatchObject({ reason: { code: 'CONFLICT', details: { currentVersion: 2 } } });
    expect((await bench.run(cold.view().get('/a.md'))).version).toBe(2);
  });

  test('UnrelatedPathsRebase: for unrelated paths both win', async () => {
    const { outcomes } = await race(
      async () => undefined,
      (world) => write(world, '/a.md'),
      (world) => write(world, '/b.md'),
    );
    expect(statuses(outcomes)).toEqual(['fulfilled', 'fulfilled']);
  });

  test('DocumentDirectoryRace: of a document and a directory exactly one topology', async () => {
    const { bench, outcomes, cold } = await race(
      async () => undefined,
      (world) => write(world, '/x'),
      (world) => write(world, '/x/y.md'),
    );
    expect(statuses(outcomes)).toEqual(['fulfilled', 'rejected']);
    const refusal = outcomes.find(({ status }) => status === 'rejected');
    expect(refusal).toMatchObject({ reason: { code: 'PATH_COLLISION' } });
    expect((await bench.run(cold.stat())).documents).toBe(1);
  });

  test('ArchiveRebaseReturnsCommittedVersion: an archive is of the version that won', async () => {
    const { bench, outcomes, cold } = await race(
      (world) => write(world, '/a.md'),
      (world) => write(world, '/a.md', 1),
      (world) => world.setArchived({ path: '/a.md', archived: true }),
    );
    const [written, archived] = outcomes;
    expect(archived).toMatchObject({ status: 'fulfilled', value: { committed: true } });
    const version = written.status === 'fulfilled' ? 2 : 1;
    expect(archived).toMatchObject({ value: { document: { version, archived: true } } });
    expect(await bench.run(cold.view().get('/a.md'))).toMatchObject({ version, archived: true });
    const versions = await bench.run(cold.view().versions('/a.md'));
    expect(
      versions.map((one) => one.version),
      'its history is untouched',
    ).toEqual(version === 2 ? [2, 1] : [1]);
    await bench.run(cold.view().verifyChain('/a.md'));
  });

  test.each([true, false])(
    'RetentionWriteRace: pruning and a write, first the pruning: %s',
    async (pruningFirst) => {
      const prune = (world: World) =>
        world.publish({ path: '/a.md', expected: 'any', body: 'p', metadata: { retention: '2' } });
      const plain = (world: World) => world.publish({ path: '/a.md', expected: 'any', body: 'w' });
      const [one, other] = pruningFirst ? [prune, plain] : [plain, prune];
      const { bench, outcomes, cold } = await race(
        async (world) => {
          for (const version of ['absent', 1, 2] as const) await write(world, '/a.md', version);
        },
        one,
        other,
      );
      expect(statuses(outcomes)).toEqual(['fulfilled', 'fulfilled']);
      const { version, body } = await bench.run(cold.view().get('/a.md'));
      expect([version, Buffer.from(body).toString()]).toEqual([5, pruningFirst ? 'w' : 'p']);
      const versions = await bench.run(cold.view().versions('/a.md'));
      // Only the write that says so prunes: what comes behind it keeps what it left.
      expect(versions.map((held) => held.version)).toEqual(pruningFirst ? [5, 4, 3] : [5, 4]);
      await bench.run(cold.view().verifyChain('/a.md'));
    },
  );

  test('ArchiveNoOpDoesNotCommit: it uses no sequence and writes no object', async () => {
    const bench = new WorldBench();
    const world = await bench.open();
    await bench.run(write(world, '/a.md'));
    const before = await bench.keys();
    const result = await bench.run(world.setArchived({ path: '/a.md', archived: false }));
    expect(result).toMatchObject({ committed: false, sequence: null });
    const conflict = await failureOf(bench.run(write(world, '/a.md')));
    expect(conflict).toMatchObject({ code: 'CONFLICT' });
    expect(await bench.keys()).toEqual(before);
  });
});
