// Goal: a location that lacks a guarantee is refused, and the refusal names it; one that has all is
// not.
// Method: honest, lying, throttling, forbidding and failing buckets over memory, in virtual time.
import { expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { createCounter } from '../../blob/count.ts';
import { withHedge } from '../../blob/hedge.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { withLatencyModel } from '../../blob/model.ts';
import { withObserver } from '../../blob/observe.ts';
import { assertUsable, type ProbeOptions, type ProbeReport, probe } from '../../blob/probe.ts';
import { probeReportLines } from '../../blob/probe-report.ts';
import { type Rule, withFaults } from '../support/faulty-bucket.ts';
import { LIES, type Lie, withLie } from '../support/lying-bucket.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const timing = new ManualClock();

function probed(store: BlobStore, options: Partial<ProbeOptions> = {}): Promise<ProbeReport> {
  return timing.run(probe(store, { timing, chance: new SeededRandom(3), ...options }));
}

function broken(report: ProbeReport): readonly string[] {
  return report.guarantees.filter(({ holds }) => holds === false).map(({ name }) => name);
}

async function leftIn(store: BlobStore): Promise<number> {
  return (await store.list({ prefix: '', limit: 1000 })).objects.length;
}

function refusal(report: ProbeReport, purpose?: 'migrate and rollback'): Promise<unknown> {
  return failureOf((async () => assertUsable(report, purpose))());
}

test('an honest location holds every guarantee, and nothing of the probe stays', async () => {
  const memory = createMemoryBucket({ timing, name: 'memory:honest' });
  const report = await probed(memory);
  expect(report.guarantees.map(({ holds }) => holds)).toEqual(report.guarantees.map(() => true));
  expect(report).toMatchObject({
    location: 'memory:honest',
    missingPermissions: [],
    leftovers: [],
  });
  expect(await leftIn(memory)).toBe(0);
  assertUsable(report);
  assertUsable(report, 'migrate and rollback');
});

test('every name is under the prefix of the probe and its own UUID', async () => {
  const keys = new Set<string>();
  const observer = { observe: ({ key }: { key: string }) => void keys.add(key) };
  await probed(withObserver(createMemoryBucket({ timing }), observer, { timing }));
  const uuid = new SeededRandom(3).uuid();
  expect([...keys].filter((key) => !key.startsWith(`_demarkus/v1/probe/${uuid}/`))).toEqual([]);
});

test('it costs what its comment says', async () => {
  const counter = createCounter();
  const store = withObserver(createMemoryBucket({ timing }), counter, { timing });
  const report = await probed(store);
  const all = { create: 20, replace: 2, get: 11, head: 3, list: 7, delete: 13 };
  expect(counter.snapshot().requests).toEqual(all);
  expect(report.requests).toBe(counter.snapshot().requestsTotal);
  counter.reset();
  const without = await probed(store, { replace: false });
  expect(without.requests).toBe(report.requests - 6);
  expect((await probed(store, { creators: 3 })).requests).toBe(report.requests - 5);
});

/**
 * What each lie breaks. A lie may break more than one guarantee; the first is the one it is about.
 */
const BROKEN: Readonly<Record<Lie, readonly string[]>> = {
  'create-overwrites': ['create-if-absent', 'concurrent create'],
  'racing-creates-win': ['concurrent create'],
  'lists-utf16': ['byte-ordered lists', 'list start offset'],
  'lists-caseless': ['byte-ordered lists', 'list start offset'],
  'ignores-after': ['list start offset'],
  'includes-after': ['list start offset'],
  'skips-first-of-page-two': ['list start offset'],
  'empty-page-with-more': ['list start offset'],
  'keys-out-of-order': ['byte-ordered lists', 'list start offset'],
  'late-list': ['byte-ordered lists', 'list start offset'],
  'stale-reads': ['strong reads', 'strong not-found'],
  'late-not-found': ['strong not-found', 'delete'],
  'ignores-range': ['range reads'],
  'delete-marker': ['delete'],
  'ignores-delete': ['strong not-found', 'delete'],
  'replace-ignores-generation': ['replace at a generation'],
};

test.each(LIES)('a location that lies (%s) is refused, naming the guarantee', async (lie) => {
  const report = await probed(withLie(createMemoryBucket({ timing }), lie));
  expect(broken(report)).toEqual(expect.arrayContaining([...BROKEN[lie]]));
  const error = await refusal(report, 'migrate and rollback');
  expect(error).toMatchObject({ name: 'BlobError', code: 'unsupported' });
  for (const name of BROKEN[lie]) expect(String(error)).toContain(name);
  for (const { holds, advice } of report.guarantees) expect(advice === '').toBe(holds === true);
});

test('a location without replace is good for worlds and refused for migration', async () => {
  const report = await probed(
    withLie(createMemoryBucket({ timing }), 'replace-ignores-generation'),
  );
  assertUsable(report);
  expect(await refusal(report, 'migrate and rollback')).toMatchObject({ code: 'unsupported' });
  const unsupported: Rule = {
    operation: 'replace',
    fault: { kind: 'fail', code: 'unsupported' },
    times: 9,
  };
  const faulty = withFaults(createMemoryBucket({ timing }), [unsupported], { timing });
  expect(broken(await probed(faulty.store))).toEqual(['replace at a generation']);
});

test('a guarantee that was left out is not good enough where it is needed', async () => {
  const report = await probed(createMemoryBucket({ timing }), { replace: false });
  expect(report.guarantees.at(-1)).toMatchObject({ holds: 'not tried', detail: 'left out' });
  assertUsable(report);
  expect(await refusal(report, 'migrate and rollback')).toMatchObject({ code: 'unsupported' });
});

const DENIED: readonly [string, Rule['operation'], string][] = [
  ['create', 'create', 'storage.objects.create'],
  ['get', 'get', 'storage.objects.get'],
  ['list', 'list', 'storage.objects.list'],
  ['delete', 'delete', 'storage.objects.delete'],
];
test.each(DENIED)(
  '403 on %s names the permission and is no verdict',
  async (_, operation, name) => {
    const denied = { operation, fault: { kind: 'fail', code: 'forbidden' }, times: 99 } as Rule;
    const report = await probed(
      withFaults(createMemoryBucket({ timing }), [denied], { timing }).store,
    );
    expect(broken(report)).toEqual([]);
    expect(report.missingPermissions.map(({ gcs }) => gcs)).toEqual([name]);
    const error = await refusal(report);
    expect(error).toMatchObject({ code: 'forbidden' });
    expect(String(error)).toContain(name);
  },
);

test('403 for absent names only is a missing list permission, never *not found*', async () => {
  const memory = createMemoryBucket({ timing });
  const absentIsForbidden = async <T extends { found: boolean }>(
    read: (store: BlobStore) => Promise<T>,
  ): Promise<T> => {
    const result = await read(memory);
    const rule: Rule = { fault: { kind: 'fail', code: 'forbidden' } };
    return result.found ? result : read(withFaults(memory, [rule], { timing }).store);
  };
  const store: BlobStore = {
    name: 's3://no-list',
    create: (key, bytes, options) => memory.create(key, bytes, options),
    replace: (key, generation, bytes, o) => memory.replace(key, generation, bytes, o),
    get: (key, options) => absentIsForbidden((s) => s.get(key, options)),
    head: (key, options) => absentIsForbidden((s) => s.head(key, options)),
    list: (query) =>
      withFaults(memory, [{ fault: { kind: 'fail', code: 'forbidden' } }], { timing }).store.list(
        query,
      ),
    delete: (key, options) => memory.delete(key, options),
    close: () => memory.close(),
  };
  const report = await probed(store);
  expect(report.missingPermissions.map(({ s3 }) => s3)).toEqual(['s3:ListBucket']);
  expect(broken(report)).toEqual([]);
  const notFound = report.guarantees.find(({ name }) => name === 'strong not-found');
  expect(notFound).toMatchObject({ holds: 'not tried', detail: 'get is forbidden' });
});

test.each(['no-bucket', 'unauthenticated'] as const)('%s is thrown, not reported', async (code) => {
  const rule: Rule = { fault: { kind: 'fail', code }, times: 99 };
  const faulty = withFaults(createMemoryBucket({ timing }), [rule], { timing });
  expect(await failureOf(probed(faulty.store))).toMatchObject({ code });
});

test('a service that fails halfway is thrown, and what was written is removed', async () => {
  const memory = createMemoryBucket({ timing });
  const rule: Rule = { operation: 'list', fault: { kind: 'fail', code: 'unavailable' }, times: 99 };
  const faulty = withFaults(memory, [rule], { timing });
  expect(await failureOf(probed(faulty.store))).toMatchObject({ code: 'unavailable' });
  expect(await leftIn(memory)).toBe(0);
});

test('an abort halfway is thrown, and what was written is removed', async () => {
  const memory = createMemoryBucket({ timing });
  const caller = new AbortController();
  const observer = {
    observe: ({ operation }: { operation: string }) => operation === 'list' && caller.abort(),
  };
  const store = withObserver(memory, { observe: (e) => void observer.observe(e) }, { timing });
  const error = await failureOf(probed(store, { signal: caller.signal }));
  expect(error).toMatchObject({ code: 'aborted' });
  expect(await leftIn(memory)).toBe(0);
  expect(timing.sleeping).toBe(0);
});

test('names that cannot be removed are reported', async () => {
  const memory = createMemoryBucket({ timing });
  const rule: Rule = { operation: 'delete', fault: { kind: 'fail', code: 'forbidden' }, times: 99 };
  const report = await probed(withFaults(memory, [rule], { timing }).store);
  expect(report.leftovers.length).toBe(await leftIn(memory));
  expect(report.leftovers.length).toBeGreaterThan(0);
});

test.each([1, 2, 3])(
  'a strict bucket that throttles names and is hedged still holds all (%i)',
  async (seed) => {
    // The model refuses a second mutation of a name within a second; hedges make refusals
    // ambiguous.
    const chance = new SeededRandom(seed);
    const memory = createMemoryBucket({ timing });
    const model = withLatencyModel(memory, { timing, chance, model: 'gcs' });
    const slow: Rule = {
      fault: { kind: 'delay', beforeMs: 300 },
      times: 99,
      when: () => chance.number() < 0.3,
    };
    const store = withHedge(withFaults(model, [slow], { timing }).store, { timing });
    const report = await probed(store, { chance });
    expect(broken(report)).toEqual([]);
    assertUsable(report, 'migrate and rollback');
    expect(report.leftovers).toEqual([]);
  },
);

test.each([1, 2, 3, 4])(
  'lost answers and 503 before or after the commit hide nothing (%i)',
  async (seed) => {
    const chance = new SeededRandom(seed);
    const fault = (stored: boolean): Rule => ({
      fault: { kind: 'fail', code: 'unavailable', stored },
      times: 99,
      when: () => chance.number() < 0.1,
    });
    const rules = [fault(true), fault(false)];
    const honest = withFaults(createMemoryBucket({ timing }), rules, { timing });
    expect(broken(await probed(honest.store))).toEqual([]);
    expect(honest.hits().every((hits) => hits > 0)).toBe(true);
    const lying = withLie(createMemoryBucket({ timing }), 'create-overwrites');
    const report = await probed(withFaults(lying, rules, { timing }).store);
    expect(broken(report)).toContain('create-if-absent');
  },
);

test('the table has a line for each guarantee and says what to do', async () => {
  const good = await probed(createMemoryBucket({ timing }));
  const lines = probeReportLines(good);
  expect(lines.length).toBe(good.guarantees.length + 3);
  for (const { name } of good.guarantees) expect(lines.some((l) => l.startsWith(name))).toBe(true);
  const bad = await probed(withLie(createMemoryBucket({ timing }), 'ignores-range'));
  const text = probeReportLines(bad).join('\n');
  expect(text).toMatch(/^range reads +NO +always +a range was ignored$/m);
  expect(text).toMatch(/^range reads: the service or a proxy ignores the Range header$/m);
});

test('creators are two or more', async () => {
  const memory = createMemoryBucket({ timing });
  await expect(probed(memory, { creators: 1 })).rejects.toBeInstanceOf(RangeError);
});
