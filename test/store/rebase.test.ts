/**
 * Goal: a batch that lost its name is carried to the new tip: what nothing has touched stays as it
 * was judged, all else is judged again, in queue order (I5); staged blobs serve for their epoch.
 * Method: a peer takes the name that a store is about to create, with a write that touches one
 * thing; calls of preconditions and creates of blobs are counted, then the log is read.
 */

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Call } from '../../blob/decorate.ts';
import type { DiagnosticEvents } from '../../bucketstore/base/diagnostics.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { POLICY_PATH } from '../../bucketstore/document/policy.ts';
import type { MutationRequest, StateReader, World } from '../../bucketstore/index.ts';
import type { Settings } from '../../bucketstore/options.ts';
import { CheckpointShelf } from '../support/checkpoint-shelf.ts';
import { withFaults } from '../support/faulty-bucket.ts';
import { withGates } from '../support/gated-bucket.ts';
import { failureOf } from '../support/outcome.ts';
import { type BenchStore, WorldBench } from '../support/world-bench.ts';

type Carried = DiagnosticEvents['bucketstore:rebase'];

let carried: Carried[] = [];
const note = (event: unknown): void => {
  carried.push(event as Carried);
};
beforeEach(() => {
  carried = [];
  subscribe('bucketstore:rebase', note);
});
afterEach(() => unsubscribe('bucketstore:rebase', note));

interface Race {
  readonly bench: WorldBench;
  readonly world: World;
  readonly peer: BenchStore;
  readonly calls: readonly Call[];
}

const put = (world: World, path: string, body = path) =>
  world.publish({ path, expected: 'any', body });

/** Two stores; the first does not know yet what the second then commits. */
async function race(settings: Partial<Settings> = {}): Promise<Race> {
  const bench = new WorldBench();
  const peer = await bench.store();
  await bench.run(put(peer.world, '/read.md', 'read'));
  await bench.run(put(peer.world, '/dir/one.md', 'one'));
  const gated = withGates(bench.bucket);
  const { world } = await bench.store({ bucket: gated.store, settings });
  return { bench, world, peer, calls: gated.calls };
}

/** A precondition that reads, and counts its runs. */
function counted(read: (state: StateReader) => Promise<unknown> = async () => undefined) {
  const counter = { runs: 0, precondition };
  async function precondition(state: StateReader): Promise<void> {
    counter.runs++;
    await read(state);
  }
  return counter;
}

const HASH = `sha256-${sha256Hex('found by hash')}`;
const READS: Readonly<Record<string, (state: StateReader) => Promise<unknown>>> = {
  nothing: async () => undefined,
  'a document': (state) => state.get('/read.md'),
  'what a document is': (state) => state.stat('/read.md'),
  'versions of a document': (state) => state.versions('/read.md'),
  'the chain of a document': (state) => state.verifyChain('/read.md'),
  'a document that is absent': (state) => state.get('/absent.md').catch(() => null),
  'a list': (state) => state.listEntries('/dir'),
  'the first of a list': (state) => state.listEntries('/dir', { limit: 1 }),
  'whether there is a directory': (state) => state.isDir('/other').catch(() => null),
  'whether a document is one': (state) => state.isDir('/other/new.md').catch(() => null),
  'a hash': (state) => state.lookupHash(HASH).catch(() => null),
};

type Peer = (world: World) => Promise<unknown>;
const PEERS: Readonly<Record<string, Peer>> = {
  unrelated: (world) => put(world, '/unrelated.md'),
  'the read document': (world) => put(world, '/read.md', 'changed'),
  'its archived state': (world) => world.setArchived({ path: '/read.md', archived: true }),
  'the absent document': (world) => put(world, '/absent.md'),
  'another name in the list': (world) => put(world, '/dir/two.md'),
  'a version of a listed document': (world) => put(world, '/dir/one.md', 'changed'),
  'a document in the directory': (world) => put(world, '/other/new.md'),
  'the body': (world) => put(world, '/elsewhere.md', 'found by hash'),
  'a policy that allows it': (world) => put(world, POLICY_PATH, '# P\n\nstrictness: warn\n'),
};

describe('a precondition', () => {
  test.each([
    ['nothing', 'unrelated'],
    ['nothing', 'the read document'],
    ['a document', 'unrelated'],
    ['a document', 'another name in the list'],
    ['a list', 'a version of a listed document'],
    ['the first of a list', 'another name in the list'],
    ['whether there is a directory', 'another name in the list'],
    ['a hash', 'unrelated'],
  ])('that read %s is not run again after %s', async (read, taken) => {
    expect(await runs(read, taken)).toBe(1);
    expect(carried).toMatchObject([{ kept: 1, rebuilt: 0 }]);
  });

  test.each([
    ['a document', 'the read document'],
    ['a document', 'its archived state'],
    ['what a document is', 'the read document'],
    ['versions of a document', 'the read document'],
    ['the chain of a document', 'the read document'],
    ['a document that is absent', 'the absent document'],
    ['a list', 'another name in the list'],
    ['whether there is a directory', 'a document in the directory'],
    ['whether a document is one', 'a document in the directory'],
    ['a hash', 'the body'],
    ['nothing', 'a policy that allows it'],
  ])('that read %s is run again after %s', async (read, taken) => {
    expect(await runs(read, taken)).toBe(2);
    expect(carried).toMatchObject([{ kept: 0, rebuilt: 1 }]);
  });

  test('of an archive is kept and run again in the same way', async () => {
    for (const [taken, expected] of [
      ['unrelated', 1],
      ['the read document', 2],
    ] as const) {
      const { bench, world, peer } = await race();
      const counter = counted(READS['a document']);
      await bench.run(PEERS[taken]?.(peer.world) ?? Promise.reject(new Error(taken)));
      const request = { path: '/dir/one.md', archived: true, precondition: counter.precondition };
      expect((await bench.run(world.setArchived(request))).committed).toBe(true);
      expect(counter.runs, taken).toBe(expected);
    }
  });

  /** How often a precondition runs for a write whose name a peer takes. */
  async function runs(read: string, taken: string): Promise<number> {
    const { bench, world, peer } = await race();
    const counter = counted(READS[read]);
    const take = PEERS[taken];
    if (take === undefined) throw new Error(`no such peer: ${taken}`);
    await bench.run(take(peer.world));
    const { precondition } = counter;
    const request = { path: '/mine/doc.md', expected: 'any', body: 'x', precondition } as const;
    const result = await bench.run(world.publish(request));
    expect(result).toMatchObject({ committed: true, sequence: 5, document: { version: 1 } });
    return counter.runs;
  }
});

describe('the state that a write itself asks for', () => {
  type Told = Readonly<Record<string, unknown>>;
  const cases: readonly [string, Peer, Partial<Settings>, Told][] = [
    ['its document', (peer) => put(peer, '/a/b.md'), {}, { code: 'CONFLICT' }],
    ['an ancestor', (peer) => put(peer, '/a'), {}, { code: 'PATH_COLLISION' }],
    ['a directory', (peer) => put(peer, '/a/b.md/c'), {}, { code: 'PATH_COLLISION' }],
    [
      'a policy',
      (peer) => put(peer, POLICY_PATH, '# P\n\nstrictness: block\nrequire_tags: area\n'),
      {},
      { code: 'POLICY_BLOCKED' },
    ],
    ['the last room', (peer) => put(peer, '/z.md'), { documentsMax: 3 }, { code: 'QUOTA' }],
  ];

  test.each(cases)('%s: refused when a peer took it', async (_, take, settings, told) => {
    const { bench, world, peer } = await race(settings);
    await bench.run(take(peer.world));
    const writing = world.publish({ path: '/a/b.md', expected: 'absent', body: 'x' });
    expect(await failureOf(bench.run(writing))).toMatchObject(told);
    expect(carried).toMatchObject([{ kept: 0, rebuilt: 1 }]);
    expect(await bench.slots()).toHaveLength(3);
  });

  test('room that is still there is no change of it', async () => {
    const { bench, world, peer } = await race({ documentsMax: 4 });
    await bench.run(put(peer.world, '/z.md'));
    await bench.run(put(world, '/a.md'));
    expect(carried).toMatchObject([{ kept: 1, rebuilt: 0 }]);
  });

  test('an append is merged anew with what a blind peer has written', async () => {
    const { bench, world, peer } = await race();
    await bench.run(put(peer.world, '/read.md', 'changed'));
    const append = world.append({ path: '/read.md', expected: 1, content: 'more' });
    expect(await failureOf(bench.run(append))).toMatchObject({ code: 'CONFLICT' });
    await bench.run(put(peer.world, '/read.md', 'again'));
    const blind = await bench.run(put(world, '/read.md', 'blind'));
    expect(blind.document.version).toBe(4);
    expect(carried).toMatchObject([{ rebuilt: 1 }, { rebuilt: 1 }]);
  });
});

describe('a refusal', () => {
  async function refused(taken: Peer, read?: string) {
    const { bench, world, peer } = await race();
    await bench.run(taken(peer.world));
    const counter = counted(async (state) => {
      const path = await state.lookupHash(HASH).catch(() => null);
      if (read !== undefined) await READS[read]?.(state);
      if (path === null) throw new RangeError('refused');
    });
    const { precondition } = counter;
    const request = { path: '/r.md', expected: 'any', body: 'x', precondition } as const;
    // Another member makes the batch one that commits, so that a name is lost.
    const [, told] = await bench.run(
      Promise.allSettled([put(world, '/m.md'), world.publish(request)]),
    );
    return { told, runs: counter.runs };
  }

  test('is kept while what it was told is the same', async () => {
    const { told, runs } = await refused((peer) => put(peer, '/unrelated.md'));
    expect([told?.status, runs]).toEqual(['rejected', 1]);
  });

  test('is made anew when that has changed, and may be none then', async () => {
    const { told, runs } = await refused((peer) => put(peer, '/e.md', 'found by hash'));
    expect([told?.status, runs]).toEqual(['fulfilled', 2]);
  });

  test('for want of an answer of the bucket is never kept', async () => {
    const { bench, peer } = await race();
    await bench.run(put(peer.world, '/large.md', 'x'.repeat(20_000)));
    const isBlob = (key: string): boolean => key.includes('/blobs/');
    const fault = { kind: 'fail', code: 'unavailable' } as const;
    const rules = [{ operation: 'get', key: isBlob, fault, times: 100 } as const];
    const { store } = withFaults(bench.bucket, rules, { timing: bench.clock });
    const { world } = await bench.store({ bucket: store });
    await bench.run(put(peer.world, '/unrelated.md'));
    const counter = counted((state) => state.get('/large.md'));
    const { precondition } = counter;
    const request = { path: '/r.md', expected: 'any', body: 'x', precondition } as const;
    const outcomes = Promise.allSettled([put(world, '/m.md'), world.publish(request)]);
    expect((await bench.run(outcomes))[1]).toMatchObject({ reason: { code: 'UNAVAILABLE' } });
    expect(counter.runs).toBe(2);
  });
});

describe('a group', () => {
  const group = (first: ReturnType<typeof counted>, second: ReturnType<typeof counted>) =>
    [
      { kind: 'publish', path: '/g/1.md', expected: 'absent', body: '1', ...pre(first) },
      { kind: 'append', path: '/g/1.md', expected: 1, content: '2' },
      { kind: 'publish', path: '/g/3.md', expected: 'absent', body: '3', ...pre(second) },
    ] as const satisfies readonly MutationRequest[];
  const pre = ({ precondition }: ReturnType<typeof counted>) => ({ precondition });

  test('is kept as a whole, with new sequences', async () => {
    const { bench, world, peer } = await race();
    await bench.run(put(peer.world, '/unrelated.md'));
    const [first, second] = [counted(), counted()];
    const results = await bench.run(world.commit(group(first, second)));
    expect(results.map(({ sequence }) => sequence)).toEqual([5, 6, 7]);
    expect([first.runs, second.runs]).toEqual([1, 1]);
    expect(carried).toMatchObject([{ kept: 1, groupsKept: 1, groupsRebuilt: 0 }]);
    expect(await texts(bench)).toEqual(['/g/1.md', '/g/1.md', '/g/3.md']);
  });

  test('is rebuilt as a whole when one of it was touched', async () => {
    const { bench, world, peer } = await race();
    await bench.run(put(peer.world, '/read.md', 'changed'));
    const [first, second] = [counted(), counted(READS['a document'])];
    const results = await bench.run(world.commit(group(first, second)));
    expect(results.map(({ sequence }) => sequence)).toEqual([5, 6, 7]);
    expect([first.runs, second.runs]).toEqual([2, 2]);
    expect(carried).toMatchObject([{ kept: 0, groupsRebuilt: 1 }]);
  });

  test('is refused as a whole when one of it was taken', async () => {
    const { bench, world, peer } = await race();
    await bench.run(put(peer.world, '/g/3.md'));
    const told = failureOf(bench.run(world.commit(group(counted(), counted()))));
    expect(await told).toMatchObject({ code: 'CONFLICT', details: { path: '/g/3.md' } });
    expect(await texts(bench)).toEqual(['/g/3.md']);
    expect((await bench.run(world.stat())).sequence).toBe(4);
  });
});

/** The paths of the newest slot, in order. */
async function texts(bench: WorldBench): Promise<readonly string[]> {
  const entries = (await bench.slots()).at(-1)?.entries ?? [];
  return entries.map((entry) => ('path' in entry ? entry.path : entry.kind));
}

test('members keep the order of the queue, whichever of them were rebuilt', async () => {
  const { bench, world, peer } = await race();
  await bench.run(put(peer.world, '/m-2.md'));
  const writes = Array.from({ length: 5 }, (_, i) => put(world, `/m-${i}.md`, `mine ${i}`));
  const stale = world.publish({ path: '/m-2.md', expected: 1, body: 'on the peer’s' });
  const results = await bench.run(Promise.allSettled([...writes, stale, put(world, '/m-0.md')]));
  expect(results.map((one) => (one.status === 'fulfilled' ? one.value.sequence : null))).toEqual([
    5,
    6,
    7,
    8,
    9,
    null,
    10,
  ]);
  const paths = ['/m-0.md', '/m-1.md', '/m-2.md', '/m-3.md', '/m-4.md', '/m-0.md'];
  expect(await texts(bench)).toEqual(paths);
  // Judged again: its own document, and the one who was refused on the member before it.
  expect(carried).toMatchObject([{ kept: 5, rebuilt: 2 }]);
});

test('a version built ahead that was lost is not the winner’s of the same number', async () => {
  const { bench, world, peer } = await race();
  const path = '/new.md';
  // Both in one batch: the second is judged on the version that the first would make.
  const first = failureOf(world.publish({ path, expected: 'absent', body: 'first' }));
  const second = put(world, path, 'second');
  await bench.run(put(peer.world, path, 'peer'));
  expect(await bench.run(first)).toMatchObject({ code: 'CONFLICT' });
  expect((await bench.run(second)).document).toMatchObject({ version: 2 });
  await bench.run((await bench.open()).view().verifyChain(path));
});

describe('staged blobs', () => {
  const large = (world: World) => put(world, '/large.md', 'large '.repeat(5_000));
  const stagedBy = ({ calls }: Race): readonly string[] =>
    calls.flatMap(({ operation, key }) => {
      return operation === 'create' && key.includes('/blobs/') ? [key.split('/')[3] ?? ''] : [];
    });
  const placeOf = async ({ bench }: Race): Promise<unknown> => {
    const entry = (await bench.slots()).at(-1)?.entries[0];
    return entry?.kind === 'write' ? entry.at : null;
  };

  test('are used again in the same epoch', async () => {
    const all = await race();
    await all.bench.run(put(all.peer.world, '/unrelated.md'));
    await all.bench.run(large(all.world));
    expect(stagedBy(all)).toEqual(['00000001']);
    expect(await placeOf(all)).toEqual({ epoch: 1 });
  });

  test('are staged again under the new epoch behind a peer’s barrier', async () => {
    const all = await race();
    const shelf = new CheckpointShelf(all.bench);
    await shelf.sweep(all.peer, [await shelf.checkpoint(all.peer)]);
    await all.bench.run(large(all.world));
    expect(stagedBy(all)).toEqual(['00000001', '00000002']);
    expect(await placeOf(all)).toEqual({ epoch: 2 });
    expect(carried.length).toBeGreaterThan(0);
    for (const one of carried) expect(one, 'judged only once').toMatchObject({ rebuilt: 0 });
    const reader = await all.bench.open();
    const { body } = await all.bench.run(reader.view().get('/large.md'));
    expect(body).toHaveLength(30_000);
  });

  test('are staged under the new epoch behind this store’s own barrier', async () => {
    const all = await race();
    const { bench, peer } = all;
    const shelf = new CheckpointShelf(bench);
    const kept = await shelf.checkpoint(peer);
    const plan = sha256Hex('plan');
    const op = bench.random.uuid();
    const barrier = { kind: 'barrier', op, plan, kept: [[kept.sequence, kept.epoch]] } as const;
    const sweeping = peer.parts.committer.control(op, () => barrier, { deadlineMs: 10_000 });
    await bench.run(Promise.all([sweeping, large(peer.world)]));
    const blobs = await bench.keys('_demarkus/v1/blobs/');
    expect(blobs.map((key) => key.split('/')[3])).toEqual(['00000002']);
    const entries = (await bench.slots()).flatMap((slot) => slot.entries);
    const write = entries.find((entry) => entry.kind === 'write' && entry.path === '/large.md');
    expect(write).toMatchObject({ at: { epoch: 2 } });
  });
});
