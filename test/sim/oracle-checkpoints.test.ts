/**
 * Goal: the oracle takes the checkpoints of a right store, and tells of every mistake by its rule.
 * Method: all that a real store created, in order, shown to an oracle once more with one thing made
 * wrong; what names it is written anew, so that only what is said is wrong.
 */
import { describe, expect, test } from 'vitest';
import { type Loose, parse, sha256, spell } from '../oracle/objects.ts';
import { GhostCheckpoints } from './oracle/ghost-checkpoints.ts';
import { GhostLog } from './oracle/ghost-log.ts';
import { type DerivedType, derivedKey, readKey } from './oracle/keys.ts';
import { Scenario } from './scenario.ts';

const MARKER_KEY = '_demarkus/v1/head.json';

interface Created {
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** Two checkpoints with a base between them, packs, closed blocks of versions and pruned ones. */
async function story(): Promise<readonly Created[]> {
  const scenario = await Scenario.begin({ stores: 1 });
  const marker = scenario.scene.bucket.peek(MARKER_KEY)?.bytes ?? new Uint8Array();
  for (let round = 0; round < 6; round++) {
    await scenario.publish(0, ['/a.md', '/b/c.md', `/new/${round}.md`]);
    await scenario.publish(0, ['/a.md']);
  }
  await scenario.compact(0);
  for (let round = 0; round < 8; round++) {
    await scenario.publish(0, ['/a.md', `/new/${round}.md`, `/newer/${round}.md`]);
  }
  await scenario.compact(0);
  expect(scenario.violations()).toEqual([]);
  const created = scenario.effects.flatMap(({ key, bytes, outcome }) => {
    return outcome === 'created' && bytes !== null ? [{ key, bytes }] : [];
  });
  return [{ key: MARKER_KEY, bytes: marker }, ...created];
}

const told = await story();

function oracle(created: readonly Created[]) {
  const ghost = new GhostLog();
  const checkpoints = new GhostCheckpoints(ghost);
  for (const [at, { key, bytes }] of created.entries()) {
    ghost.landed(key, bytes, at);
    checkpoints.landed(key, bytes, 's');
  }
  return { ghost, checkpoints, rules: ghost.violations.map(({ rule }) => rule) };
}

function ofType(type: DerivedType): readonly Created[] {
  return told.filter(({ key }) => {
    const name = readKey(key);
    return name.kind === 'derived' && name.type === type;
  });
}

const RECORD = told.at(-1)?.key ?? '';
const [ROOT] = ofType('root').slice(-1);

function jsonOf({ key, bytes }: Created): Loose {
  return parse(key, Buffer.from(bytes).toString());
}

/** All of it with the last record saying something else. */
function withRecord(change: Loose): readonly Created[] {
  return told.map((one) => {
    if (one.key !== RECORD) return one;
    const { check: _, ...said } = { ...jsonOf(one), ...change };
    return { key: RECORD, bytes: Buffer.from(spell({ ...said, check: sha256(spell(said)) })) };
  });
}

/** All of it with the last root saying something else. */
function withRoot(change: (root: Loose) => Loose): readonly Created[] {
  if (ROOT === undefined) throw new Error('no root');
  const root = jsonOf(ROOT);
  const bytes = Buffer.from(spell({ ...root, ...change(root) }));
  const ref = { epoch: 1, hash: sha256(bytes) };
  return withRecord({ root: ref }).map((one) => {
    return one.key === ROOT.key ? { key: derivedKey('root', ref), bytes } : one;
  });
}

type Items = readonly Loose[];

test('the checkpoints of a right store are taken', () => {
  const { checkpoints, rules } = oracle(told);
  expect(rules).toEqual([]);
  expect(checkpoints.found.size).toBe(2);
  expect(checkpoints.newest).toMatchObject({ sequence: 49, packedThrough: 48, process: 's' });
  for (const type of ['root', 'run', 'segment', 'records', 'history', 'pack'] as const) {
    expect(ofType(type).length, type).toBeGreaterThan(1);
  }
});

describe('a record that says something wrong is told', () => {
  test.each<[string, Loose]>([
    ['the control state of an earlier sequence', { mutation: 25 }],
    ['an open plan', { plan: 'f'.repeat(64) }],
    ['a kept checkpoint', { kept: [[25, 1]] }],
    ['a pin', { pins: [['p', 7]] }],
    ['another floor', { floor: { at: 5, mutation: 4 } }],
    ['another count of documents', { documents: 3 }],
    ['versions that are not retained', { swept: { plan: null, pruned: 1, retained: 47 } }],
    ['a later time', { time: 5 }],
  ])('%s', (_, change) => {
    expect(oracle(withRecord(change)).rules).toContain('I4');
  });
});

describe('a root that says something wrong is told', () => {
  const packs = (root: Loose): Items => root['packs'] as Items;
  const runs = (root: Loose): Items => root['runs'] as Items;
  const swapped = (items: Items): Items => {
    const [other, last] = items.slice(-2);
    if (other === undefined || last === undefined) throw new Error('a root of one run');
    expect(other['hash']).not.toBe(last['hash']);
    return items.with(-1, { ...last, hash: other['hash'] });
  };
  test.each<[string, (root: Loose) => Loose]>([
    ['a unit more than is packed', () => ({ packed_through: 56 })],
    ['a unit less', () => ({ packed_through: 40 })],
    ['a pack left out', (root) => ({ packs: packs(root).slice(1) })],
    ['the last pack left out', (root) => ({ packs: packs(root).slice(0, -1) })],
    ['a base elsewhere', () => ({ base: { position: 40, documents: 2 } })],
    ['a run left out', (root) => ({ runs: runs(root).slice(0, -1) })],
    ['a run of other sequences', (root) => ({ runs: swapped(runs(root)) })],
    ['records of other sequences', (root) => ({ records: swapped(root['records'] as Items) })],
    ['runs in the place of records', (root) => ({ records: runs(root) })],
  ])('%s', (_, change) => {
    expect(oracle(withRoot(change)).rules).toContain('I4');
  });
});

describe('an object that is not there, or is another, is told', () => {
  test.each(['root', 'run', 'segment', 'records', 'history', 'pack'] as const)('a %s', (type) => {
    for (const one of [ofType(type)[0], ofType(type).at(-1)]) {
      const without = told.filter(({ key }) => key !== one?.key);
      expect(oracle(without).rules, 'left out').toContain('I4');
      const late = [...without, ...told.filter(({ key }) => key === one?.key)];
      expect(oracle(late).rules, 'after its record').toContain('I4');
      const cut = told.map((other) => {
        return other.key === one?.key ? { ...other, bytes: other.bytes.slice(1) } : other;
      });
      expect(oracle(cut).rules, 'cut').toContain('I8');
    }
  });
});

test('a record that is written otherwise than it lies there is told', () => {
  const { ghost, checkpoints } = oracle(told);
  const bytes = told.at(-1)?.bytes ?? new Uint8Array();
  expect(checkpoints.refused(RECORD, bytes, 's')).toBe(false);
  expect(checkpoints.refused(RECORD, bytes, 'another')).toBe(true);
  expect(ghost.violations).toEqual([]);
  const other = withRecord({ mutation: 25 }).at(-1)?.bytes ?? new Uint8Array();
  checkpoints.refused(RECORD, other, 'another');
  expect(ghost.violations).toMatchObject([{ rule: 'I4' }]);
});

test('a slot that goes before it is packed is told', () => {
  const { ghost, checkpoints } = oracle(told);
  const slots = told.filter(({ key }) => key.includes('/log/'));
  checkpoints.removed(slots[0]?.key ?? '');
  expect(ghost.violations).toEqual([]);
  checkpoints.removed(slots.at(-1)?.key ?? '');
  expect(ghost.violations).toMatchObject([{ rule: 'I16' }]);
});
