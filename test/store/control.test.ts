/**
 * Goal: a control entry is alone in its slot, judged at exactly the tip that it follows, in its
 * turn among the members; nothing follows a seal. Method: entries through the committer of one of
 * two stores, a peer that takes the name, creates that are held; then the log is read.
 */
import { describe, expect, test } from 'vitest';
import { StoreError } from '../../bucketstore/base/errors.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { ControlJudge } from '../../bucketstore/commit/member.ts';
import type { World } from '../../bucketstore/index.ts';
import { slotKey } from '../../bucketstore/log/names.ts';
import type { ControlEntry } from '../../bucketstore/log/records.ts';
import type { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import { type GatedBucket, withGates } from '../support/gated-bucket.ts';
import { drain } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { type BenchStore, WorldBench } from '../support/world-bench.ts';

const OP = '11111111-1111-4111-8111-111111111111';
const NEXT = '22222222-2222-4222-8222-222222222222';
const pin = (id: string, op = OP): ControlEntry => {
  return { kind: 'pin', op, id, owner: 'test', expires: 0 };
};
const SEAL: ControlEntry = {
  kind: 'seal',
  op: OP,
  reason: 'move',
  successor: NEXT,
  location: 'gs://b/p',
};

interface Scene {
  readonly bench: WorldBench;
  readonly gated: GatedBucket;
  readonly store: BenchStore;
  readonly peer: BenchStore;
}

async function scene(settings: object = {}): Promise<Scene> {
  const bench = new WorldBench();
  const gated = withGates(bench.bucket);
  const store = await bench.store({ bucket: gated.store, settings });
  const peer = await bench.store();
  gated.calls.length = 0;
  return { bench, gated, store, peer };
}

const put = (world: World, path: string) => world.publish({ path, expected: 'any', body: path });

function control({ parts }: BenchStore, judge: ControlJudge, deadlineMs = 10_000, op = OP) {
  return parts.committer.control(op, judge, { deadlineMs });
}

/** Each slot as the paths or the kinds of its entries. */
async function log(bench: WorldBench): Promise<readonly (readonly string[])[]> {
  const slots = await bench.slots();
  return slots.map(({ entries }) =>
    entries.map((entry) => ('path' in entry ? entry.path : entry.kind)),
  );
}

/** A judge that writes down the tips it was shown. */
function noting(entry: (state: Snapshot) => ControlEntry | null) {
  const tips: number[] = [];
  const judge: ControlJudge = (state) => {
    tips.push(state.tip.sequence);
    return entry(state);
  };
  return { tips, judge };
}

const isCreate = ({ operation, key }: { operation: string; key: string }): boolean =>
  operation === 'create' && key.includes('/log/');

describe('a control entry', () => {
  test('is alone in its slot, in its turn between the members before and behind it', async () => {
    const { bench, store } = await scene();
    const { world } = store;
    const work = [
      put(world, '/a.md'),
      put(world, '/b.md'),
      control(store, () => pin('one')),
      put(world, '/c.md'),
      put(world, '/d.md'),
      control(store, () => pin('two', NEXT), 10_000, NEXT),
      put(world, '/e.md'),
    ] as const;
    const [, , first, , , second] = await bench.run(Promise.all(work));
    expect([first, second]).toEqual([4, 7]);
    expect(await log(bench)).toEqual([
      ['/a.md', '/b.md'],
      ['pin'],
      ['/c.md', '/d.md'],
      ['pin'],
      ['/e.md'],
    ]);
    expect(store.parts.follower.snapshot.control.pins).toEqual([
      ['one', 4],
      ['two', 7],
    ]);
  });

  test('is judged at the tip of now, not at what this store has seen', async () => {
    const { bench, store, peer } = await scene();
    await bench.run(put(peer.world, '/p.md'));
    await bench.run(put(peer.world, '/q.md'));
    const { tips, judge } = noting(() => pin('one'));
    expect(await bench.run(control(store, judge))).toBe(4);
    expect(tips).toEqual([3]);
  });

  test('that loses its name is judged again at the new tip, and may then be another', async () => {
    const { bench, gated, store, peer } = await scene();
    const { tips, judge } = noting(({ tip }) => pin(`at-${tip.sequence}`));
    const held = gated.hold('request', isCreate);
    const working = control(store, judge);
    await drain();
    await bench.run(put(peer.world, '/p.md'));
    await bench.run(put(peer.world, '/q.md'));
    await held.open();
    expect(await bench.run(working)).toBe(4);
    expect(tips.at(-1)).toBe(3);
    expect(tips).toHaveLength(2);
    expect(store.parts.follower.snapshot.control.pins).toEqual([['at-3', 4]]);
    expect(await log(bench)).toEqual([['/p.md'], ['/q.md'], ['pin']]);
  });

  test('that is not wanted any more after a loss is none', async () => {
    const { bench, gated, store, peer } = await scene();
    const { judge } = noting(({ tip }) => (tip.sequence === 1 ? pin('one') : null));
    const held = gated.hold('request', isCreate);
    const working = control(store, judge);
    await drain();
    await bench.run(put(peer.world, '/p.md'));
    await held.open();
    expect(await bench.run(working)).toBeNull();
    expect(await log(bench)).toEqual([['/p.md']]);
  });

  test('null commits nothing, costs one look, and lets the next go on', async () => {
    const { bench, gated, store } = await scene();
    expect(await bench.run(control(store, () => null))).toBeNull();
    expect(gated.calls.map(({ operation }) => operation)).toEqual(['head']);
    expect((await bench.run(put(store.world, '/a.md'))).sequence).toBe(2);
  });

  test('that no replay would take is refused, and fails nobody else', async () => {
    const { bench, store } = await scene();
    await bench.run(control(store, () => pin('one')));
    const refused = failureOf(control(store, () => pin('one')));
    const member = put(store.world, '/a.md');
    const [error, result] = await bench.run(Promise.all([refused, member]));
    expect(error).toMatchObject({ code: 'REJECTED' });
    expect(String(error)).toMatch(/not committed: pin one is there/);
    expect(result.sequence).toBe(3);
    expect(await log(bench)).toEqual([['pin'], ['/a.md']]);
  });

  test('whose judge throws fails with that, and nothing else does', async () => {
    const { bench, store } = await scene();
    const judge = (): never => {
      // What would be a broken log, were it met in the log.
      throw new StoreError('INTEGRITY', 'no mark');
    };
    const failed = failureOf(control(store, judge));
    const [error] = await bench.run(Promise.all([failed, put(store.world, '/a.md')]));
    expect(error).toMatchObject({ message: 'no mark' });
    expect(await log(bench)).toEqual([['/a.md']]);
  });

  test('whose deadline passes in the queue is not committed, and is never judged', async () => {
    const { bench, gated, store } = await scene();
    const held = gated.hold('request', isCreate);
    const member = store.world.publish(
      { path: '/a.md', expected: 'any', body: 'a' },
      { deadlineMs: 60_000 },
    );
    await drain();
    const { tips, judge } = noting(() => pin('one'));
    const late = failureOf(control(store, judge, 500));
    await bench.clock.advance(600);
    expect(await late).toMatchObject({ code: 'OVERLOADED', outcome: 'not committed' });
    await held.open();
    await bench.run(member);
    expect([tips, await log(bench)]).toEqual([[], [['/a.md']]]);
  });

  test('whose deadline passes while its create is out is told *unknown*', async () => {
    const { bench, gated, store } = await scene();
    const held = gated.hold('answer', isCreate);
    const late = failureOf(control(store, () => pin('one'), 500));
    await bench.clock.advance(600);
    const details = { op: OP, after: 1 };
    expect(await late).toMatchObject({ code: 'UNKNOWN_OUTCOME', details });
    await held.open();
    expect((await bench.run(put(store.world, '/a.md'))).sequence).toBe(3);
    expect(await log(bench)).toEqual([['pin'], ['/a.md']]);
  });

  test('has a place in the queue like any request, and gives it back', async () => {
    const { bench, gated, store } = await scene({ queueMembers: 1 });
    const held = gated.hold('request', isCreate);
    const member = put(store.world, '/a.md');
    await drain();
    const refused = await failureOf(control(store, () => pin('one')));
    expect(refused).toMatchObject({ code: 'OVERLOADED' });
    await held.open();
    await bench.run(member);
    expect(await bench.run(control(store, () => pin('one')))).toBe(3);
    expect(store.parts.committer.waiting).toBe(0);
    await bench.run(store.world.close());
    const closed = failureOf(control(store, () => pin('two')));
    expect(await closed).toMatchObject({ code: 'CLOSED' });
  });
});

describe('nothing follows a seal', () => {
  const details = { successor: NEXT };

  test('members behind it, and later ones, are told where the world goes on', async () => {
    const { bench, store, peer } = await scene();
    const { world } = store;
    const work = [
      put(world, '/a.md'),
      control(store, () => SEAL),
      put(world, '/b.md'),
      world.commit([
        { kind: 'publish', path: '/c.md', expected: 'any', body: 'c' },
        { kind: 'publish', path: '/d.md', expected: 'any', body: 'd' },
      ]),
    ] as const;
    const [before, seal, behind, group] = await bench.run(Promise.allSettled(work));
    expect([before, seal]).toMatchObject([{ value: { sequence: 2 } }, { value: 3 }]);
    for (const told of [behind, group]) {
      expect(told).toMatchObject({ reason: { code: 'SEALED', details } });
      expect(String((told as PromiseRejectedResult).reason)).toMatch(/not committed.*gs:\/\/b\/p/);
    }
    for (const late of [world, peer.world]) {
      expect(await failureOf(bench.run(put(late, '/e.md')))).toMatchObject({
        code: 'SEALED',
        details,
      });
    }
    expect(await log(bench)).toEqual([['/a.md'], ['seal']]);
    expect(await bench.keys(slotKey(sequence(4)))).toEqual([]);
  });

  test('a member that loses its name to one is told so, whatever was judged before', async () => {
    const { bench, gated, store, peer } = await scene();
    const held = gated.hold('request', isCreate);
    const writing = put(store.world, '/a.md');
    writing.catch(() => undefined);
    await drain();
    await bench.run(control(peer, () => SEAL));
    await held.open();
    expect(await failureOf(bench.run(writing))).toMatchObject({ code: 'SEALED', details });
    expect(await log(bench)).toEqual([['seal']]);
    expect((await bench.run(store.world.stat())).sealed).toBe(true);
  });

  test('another control entry is refused', async () => {
    const { bench, store, peer } = await scene();
    await bench.run(control(peer, () => SEAL));
    const error = await failureOf(bench.run(control(store, () => pin('one'))));
    expect(error).toMatchObject({ code: 'SEALED', details });
    expect(await log(bench)).toEqual([['seal']]);
    expect((await bench.run(control(store, () => null))) ?? 'none').toBe('none');
  });
});
