/**
 * Goal: the failure of one member is its own answer and fails no other (I5); a store that is closed
 * or left answers everybody once, tells *unknown* of nothing but what it sent, and sends no more.
 * Method: every way a member can fail, before, between and behind others in one moment; closing
 * while each kind of call is held.
 */
import { describe, expect, test } from 'vitest';
import type { Call } from '../../blob/decorate.ts';
import { POLICY_PATH } from '../../bucketstore/document/policy.ts';
import type { StoreErrorCode, World } from '../../bucketstore/index.ts';
import { type Rule, withFaults } from '../support/faulty-bucket.ts';
import { withGates } from '../support/gated-bucket.ts';
import { drain } from '../support/manual-clock.ts';
import { countedSignal, failureOf } from '../support/outcome.ts';
import { WorldBench } from '../support/world-bench.ts';

const isSlot = ({ key }: Call): boolean => key.includes('/log/');
const isBlob = (key: string): boolean => key.includes('/blobs/');
const LARGE = 'large '.repeat(5_000);
const TAKEN_OP = '11111111-1111-4111-8111-111111111111';

const put = (world: World, path: string, options: object = {}) =>
  world.publish({ path, expected: 'any', body: path }, options);

/** What a member does that fails, and what it is told. */
const FAILURES: Readonly<Record<string, readonly [StoreErrorCode | 'own', Act]>> = {
  'a conflict': ['CONFLICT', (w) => w.publish({ path: '/old.md', expected: 7, body: 'x' })],
  'an archived document': [
    'ARCHIVED',
    (w) => w.publish({ path: '/archived.md', expected: 1, body: 'x' }),
  ],
  'a path below a document': ['PATH_COLLISION', (w) => put(w, '/old.md/x.md')],
  'no room': ['QUOTA', (w) => w.commit(['/q/1.md', '/q/2.md', '/q/3.md'].map(blind))],
  'a policy': ['POLICY_BLOCKED', (w) => put(w, '/untagged.md')],
  'nothing to append to': [
    'NOT_FOUND',
    (w) => w.append({ path: '/none.md', expected: 1, content: 'x' }),
  ],
  'its own condition': [
    'own',
    (w) =>
      w.publish({
        path: '/c.md',
        expected: 'any',
        body: 'x',
        metadata: TAGGED,
        precondition: () => Promise.reject(new RangeError('own')),
      }),
  ],
  'a blob that is refused': ['LOCATION', (w) => write(w, '/large.md', LARGE)],
  'a body that cannot be read': [
    'LOCATION',
    (w) => w.append({ path: '/staged.md', expected: 1, content: 'x' }),
  ],
  'a member of its group': [
    'CONFLICT',
    (w) => w.commit([blind('/g/1.md'), { ...blind('/old.md'), expected: 7 }, blind('/g/2.md')]),
  ],
  'an operation that is another’s': [
    'REJECTED',
    (w) =>
      w.publish(
        { path: '/other.md', expected: 'any', body: 'x', metadata: TAGGED },
        { op: TAKEN_OP },
      ),
  ],
};

type Act = (world: World) => Promise<unknown>;

const TAGGED = { tags: 'area:store' };
const blind = (path: string) =>
  ({ kind: 'publish', path, expected: 'any', body: path, metadata: TAGGED }) as const;
const write = (world: World, path: string, body = path) =>
  world.publish({ path, expected: 'any', body, metadata: TAGGED });

/** A world in which each of the failures can happen, opened anew on a bucket that refuses blobs. */
async function scene(): Promise<{ readonly bench: WorldBench; readonly world: World }> {
  const bench = new WorldBench();
  const writer = await bench.open();
  await bench.run(
    writer.publish({ path: '/old.md', expected: 'any', body: 'old' }, { op: TAKEN_OP }),
  );
  await bench.run(put(writer, '/archived.md'));
  await bench.run(writer.setArchived({ path: '/archived.md', archived: true }));
  await bench.run(writer.publish({ path: '/staged.md', expected: 'any', body: LARGE }));
  const policy = '# P\n\nstrictness: block\nrequire_tags: area\n';
  await bench.run(writer.publish({ path: POLICY_PATH, expected: 'any', body: policy }));
  const fault = { kind: 'fail', code: 'forbidden' } as const;
  const rules: readonly Rule[] = (['create', 'get'] as const).map((operation) => {
    return { operation, key: isBlob, fault, times: 1_000 };
  });
  const { store } = withFaults(bench.bucket, rules, { timing: bench.clock });
  return { bench, world: await bench.open({ bucket: store, settings: { documentsMax: 6 } }) };
}

describe('one member’s failure', () => {
  const cases = Object.entries(FAILURES).flatMap(([name, [code, act]]) => {
    return [0, 1, 2].map(
      (at) => [name, ['before', 'between', 'behind'][at], at, code, act] as const,
    );
  });

  test.each(cases)('%s, %s others, is its own', async (_, __, at, code, act) => {
    const { bench, world } = await scene();
    // The second stands on what the first makes.
    const others: readonly Act[] = [
      (w) => write(w, '/a.md'),
      (w) => w.publish({ path: '/a.md', expected: 1, body: 'on it', metadata: TAGGED }),
    ];
    const acts = [...others.slice(0, at), act, ...others.slice(at)];
    const outcomes = await bench.run(Promise.allSettled(acts.map((one) => one(world))));
    const failed = outcomes[at];
    const expected = code === 'own' ? { name: 'RangeError', message: 'own' } : { code };
    expect(failed).toMatchObject({ status: 'rejected', reason: expected });
    const rest = outcomes.filter((one) => one !== failed);
    expect(rest).toMatchObject([
      { status: 'fulfilled', value: { sequence: 7, document: { version: 1 } } },
      { status: 'fulfilled', value: { sequence: 8, document: { version: 2 } } },
    ]);
    expect((await bench.slots()).flatMap(({ entries }) => entries)).toHaveLength(7);
    expect((await bench.run(write(world, '/next.md'))).committed).toBe(true);
    await bench.run(world.close());
    expect(bench.clock.sleeping).toBe(0);
  });
});

describe('closing', () => {
  const holds: Readonly<Record<string, (call: Call) => boolean>> = {
    'a body is read': ({ operation }) => operation === 'get',
    'a blob is created': ({ operation, key }) => operation === 'create' && isBlob(key),
    'a slot is created': (call) => call.operation === 'create' && isSlot(call),
    'the next name is looked up': (call) => call.operation === 'head' && isSlot(call),
  };
  const wheres = ['request', 'answer'] as const;
  const cases = Object.entries(holds).flatMap(([name, matches]) => {
    return wheres.map((where) => [name, where, matches] as const);
  });

  test.each(cases)('while %s (held on its %s) answers all, once', async (_, where, matches) => {
    const bench = new WorldBench();
    const writer = await bench.open();
    await bench.run(put(writer, '/old.md'));
    const gated = withGates(bench.bucket);
    const { world, parts } = await bench.store({ bucket: gated.store });
    const held = gated.hold(where, matches);
    const caller = countedSignal();
    const options = { signal: caller.signal, deadlineMs: 60_000 };
    const requests = [
      world.append({ path: '/old.md', expected: 1, content: 'x' }, options),
      world.publish({ path: '/large.md', expected: 'any', body: LARGE }, options),
      put(world, '/small.md', options),
      world.publish({ path: '/old.md', expected: 9, body: 'x' }, options),
      parts.committer.control(TAKEN_OP, () => null, options),
    ];
    const outcomes = Promise.allSettled(requests);
    await drain();
    await bench.run(world.close({ drainMs: 500 }));
    expect(held.waiting, 'it was in the way').toBeGreaterThan(0);
    const told = await outcomes;
    const sent = gated.calls.filter((call) => call.operation === 'create' && isSlot(call)).length;
    for (const one of told) {
      if (one.status === 'fulfilled') continue;
      const unknown = one.reason.code === 'UNKNOWN_OUTCOME';
      expect(['CLOSED', 'CONFLICT', 'UNKNOWN_OUTCOME']).toContain(one.reason.code);
      if (unknown) expect(sent, 'unknown is only what was sent').toBeGreaterThan(0);
    }
    expect([parts.committer.waiting, parts.committer.warming, caller.listeners()]).toEqual([
      0, 0, 0,
    ]);
    const calls = gated.calls.length;
    await held.open();
    await bench.clock.advance(120_000);
    expect(bench.clock.sleeping).toBe(0);
    const late = gated.calls.slice(calls).filter(({ operation }) => operation === 'create');
    expect(late, 'nothing is sent after the end').toEqual([]);
    expect(await failureOf(put(world, '/late.md'))).toMatchObject({ code: 'CLOSED' });
    const acknowledged = told.filter((one) => {
      return one.status === 'fulfilled' && one.value !== null && 'sequence' in Object(one.value);
    });
    const entries = (await bench.slots()).flatMap((slot) => slot.entries);
    expect(entries.length).toBeGreaterThanOrEqual(1 + acknowledged.length);
  });
});

describe('a queued request that leaves', () => {
  test('never commits, whatever it waits for, and those around it do', async () => {
    const bench = new WorldBench();
    const writer = await bench.open();
    await bench.run(put(writer, '/old.md'));
    const gated = withGates(bench.bucket);
    const world = await bench.open({ bucket: gated.store, settings: { batchMax: 1 } });
    const held = gated.hold(
      'request',
      (call) => call.operation !== 'head' && !call.key.endsWith('.json'),
    );
    const caller = countedSignal();
    const options = { signal: caller.signal };
    const leaving = [
      put(world, '/left.md', options),
      world.append({ path: '/old.md', expected: 1, content: 'x' }, options),
      world.publish({ path: '/left-large.md', expected: 'any', body: LARGE }, options),
      world.commit(
        [{ kind: 'publish', path: '/left-group.md', expected: 'any', body: 'x' }],
        options,
      ),
    ].map(failureOf);
    // The first of all has its create out, so that the others are queued behind it.
    const stays = [put(world, '/first.md'), put(world, '/last.md')];
    const reason = new RangeError('left');
    await drain();
    caller.abort(reason);
    const told = await Promise.all(leaving);
    await held.open();
    const results = await bench.run(Promise.all(stays));
    expect(results.every(({ committed }) => committed)).toBe(true);
    await bench.clock.advance(60_000);
    const entries = (await bench.slots()).flatMap((slot) => slot.entries);
    const paths = entries.map((entry) => ('path' in entry ? entry.path : entry.kind));
    // Only the one whose create was out may be there, and was told so.
    const [first, ...queued] = told;
    for (const one of queued) expect(one).toBe(reason);
    expect(first).toMatchObject({ code: 'UNKNOWN_OUTCOME' });
    expect(paths).toEqual(['/old.md', '/left.md', '/first.md', '/last.md']);
    expect(caller.listeners()).toBe(0);
  });
});
