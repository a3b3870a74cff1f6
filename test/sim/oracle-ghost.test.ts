/**
 * Goal: the ghost log takes what a right log does, and tells of every mistake by its rule.
 * Method: logs made by hand with the store's encoders; then one thing at a time made wrong.
 */
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { type Sequence, sequence } from '../../bucketstore/base/sequence.ts';
import { storeVersion } from '../../bucketstore/document/stored.ts';
import { blobKey, checkpointKey, MARKER_KEY, slotKey } from '../../bucketstore/log/names.ts';
import { hashOf, uuidOf, write } from '../log/values.ts';
import { ForgedWorld, forgedRecord } from './forged-world.ts';
import { Changes } from './oracle/changes.ts';
import { POLICY_PATH } from './oracle/policy.ts';

const STALE = uuidOf(99);

function rules(world: ForgedWorld): string[] {
  return world.ghost.violations.map(({ rule }) => rule);
}

/** Two documents at sequences 2 to 4, the second staged; then a barrier and an archive. */
function example(): ForgedWorld {
  const world = new ForgedWorld();
  world.slot(10, [
    { path: '/a.md', text: 'one' },
    { path: '/d/b.md', text: 'large', staged: true, metadata: { tags: 'x,y' } },
  ]);
  world.slot(20, [{ path: '/a.md', text: 'two', verb: 'append' }]);
  return world;
}

/** A record that tells the truth about the tip. */
function record(world: ForgedWorld, change: { readonly [name: string]: unknown } = {}): string {
  const slot = world.ghost.slots.at(-1);
  const at = slot?.last ?? 1;
  const floor = { at: world.ghost.world?.control.floor, mutation: 1 };
  const root = { epoch: world.epoch };
  const { hash, time, documents } = slot ?? { hash: '', time: 0, documents: 0 };
  const fields = { sequence: at, slot: hash, time, documents, epoch: world.epoch, floor, root };
  const key = checkpointKey(sequence(at), world.epoch);
  world.ghost.landed(key, forgedRecord({ ...fields, ...change }), 30);
  return key;
}

function raiseFloor(world: ForgedWorld, at: Sequence): void {
  world.control(40, { kind: 'floor', at, mutation: at - 1 });
}

test('a right log is taken, entry by entry', () => {
  const world = example();
  record(world);
  world.control(30, { kind: 'barrier', plan: hashOf(1), kept: [[sequence(4), 1]] });
  world.slot(40, [{ path: '/d/b.md', text: null }]);
  raiseFloor(world, sequence(4));
  world.ghost.removed(slotKey(sequence(2)), 50);
  const { ghost } = world;
  expect(ghost.violations).toEqual([]);
  expect(ghost.tip).toBe(7);
  expect(ghost.state('/a.md', 3)).toMatchObject({ version: 1 });
  expect(ghost.state('/a.md', 4)).toMatchObject({ version: 2, archived: false });
  expect(ghost.state('/d/b.md', 6)).toMatchObject({ version: 1, archived: true });
  expect([ghost.tipAt(9), ghost.tipAt(10), ghost.tipAt(10, false), ghost.tipAt(99)]).toEqual([
    1, 3, 1, 7,
  ]);
  expect([1, 2, 3, 4, 7, 8].map((at) => ghost.landedAt(at))).toEqual([
    ...[undefined, 10, 10, 20, 40],
    undefined,
  ]);
  const directories = ghost.world?.directories;
  expect(directories?.names('/').at(5)).toBe('a.md\0d/');
  expect(directories?.names('/').at(6)).toBe('a.md');
  expect(directories?.smallest(sha256Hex('one')).at(3)).toBe('/a.md');
  expect(directories?.smallest(sha256Hex('one')).at(4)).toBe('');
});

test('hidden names are in no list, and strays below the floor are harmless', () => {
  const world = new ForgedWorld();
  world.slot(10, [
    { path: '/.hidden/a.md', text: 'a' },
    { path: '/versions/b.md', text: 'b' },
    { path: '/c/.d', text: 'c' },
    { path: '/é.md', text: 'd' },
    { path: '/z.md', text: 'e' },
  ]);
  expect(world.ghost.world?.directories.names('/').last).toBe('z.md\0é.md');
  expect(world.ghost.world?.directories.isDirectory('/c', 4)).toBe(true);
  expect(world.ghost.world?.directories.isDirectory('/c', 3)).toBe(false);
  record(world);
  world.control(30, { kind: 'pin', id: 'p', owner: 'o', expires: 1 });
  raiseFloor(world, sequence(7));
  world.ghost.removed(slotKey(sequence(2)), 50);
  const late = world.encode({ entries: [write(1)], bodies: [], first: sequence(2) });
  world.ghost.landed(late.key, late.bytes, 60);
  world.ghost.removed(late.key, 70);
  expect(world.ghost.violations).toEqual([]);
  expect(world.ghost.strays).toBe(1);
});

describe('a wrong log is told by its rule', () => {
  const entry = { entries: [write(1)], bodies: [] };
  const cases: [string, string, (world: ForgedWorld) => void][] = [
    ['a gap', 'I1', (world) => stray(world, 9)],
    ['a second owner of a sequence', 'I1', (world) => stray(world, 3)],
    ['another predecessor', 'I1', (world) => stray(world, 5, hashOf(1))],
    [
      'a slot created again',
      'I1',
      (world) => world.ghost.landed(slotKey(sequence(2)), new Uint8Array(), 50),
    ],
    ['a slot of no bytes', 'I1', (world) => world.ghost.landed(slotKey(sequence(5)), bytes(''), 5)],
    [
      'a slot under another name',
      'I1',
      (world) =>
        world.ghost.landed(
          slotKey(sequence(5)),
          world.encode({ ...entry, first: sequence(6) }).bytes,
          5,
        ),
    ],
    ['another world', 'I1', (world) => world.slot(50, [], { ...one(world), worldId: STALE })],
    ['another life', 'I1', (world) => world.slot(50, [], { ...one(world), incarnationId: STALE })],
    ['a second marker', 'I2', (world) => world.ghost.landed(MARKER_KEY, bytes(''), 50)],
    ['no marker any more', 'I2', (world) => world.ghost.removed(MARKER_KEY, 50)],
    ['a slot behind a seal', 'I1', (world) => sealed(world)],
    ['a time that goes back', 'I3', (world) => world.slot(50, [NEW], { time: 1 })],
    ['another epoch', 'I3', (world) => world.slot(50, [NEW], { epoch: 2 })],
    ['a wrong count', 'I3', (world) => world.slot(50, [NEW], { documents: 9 })],
    ['a version out of turn', 'I3', (world) => spoilt(world, { version: 7 })],
    ['an append to nothing', 'I3', (world) => spoilt(world, { verb: 'append' })],
    ['a first of no retention', 'I3', (world) => again(world, { first: 2 })],
    ['a document above', 'I3', (world) => world.slot(50, [{ path: '/a.md/x', text: 'x' }])],
    ['a document below', 'I3', (world) => world.slot(50, [{ path: '/d', text: 'x' }])],
    ['an archive of nothing', 'I3', (world) => world.slot(50, [{ path: '/q.md', text: null }])],
    ['a write to an archived document', 'I3', (world) => onArchived(world)],
    ['an operation that is there', 'exactly once', (world) => twice(world)],
    ['a wrong body hash', 'I8', (world) => spoilt(world, { bodyHash: hashOf(1) })],
    ['another predecessor of a version', 'I8', (world) => chained(world)],
    ['metadata that are not stored', 'I8', (world) => spoilt(world, { catalog: OTHER })],
    ['a blob that is absent', 'I8', (world) => unstaged(world)],
    [
      'a blob of other bytes',
      'I8',
      (world) => world.ghost.landed(blobKey(1, hashOf(1)), bytes('x'), 5),
    ],
    [
      'a blob of an epoch to come',
      'I8',
      (world) => world.ghost.landed(blobKey(2, sha256Hex('x')), bytes('x'), 5),
    ],
    ['an object of no use', 'I9', (world) => world.ghost.landed('_demarkus/v1/x', bytes('x'), 5)],
    ['a header that is too large', 'I9', (world) => world.slot(50, [{ ...NEW, path: LONG }])],
    [
      'a slot that is too large',
      'I9',
      (world) => world.ghost.landed(slotKey(sequence(5)), new Uint8Array(4_194_305), 5),
    ],
    ['a floor that is lowered', 'control', (world) => floors(world)],
    [
      'a plan that is not open',
      'control',
      (world) => world.control(50, { kind: 'clear', plan: hashOf(1) }),
    ],
    [
      'a pin that is not there',
      'control',
      (world) => world.control(50, { kind: 'unpin', id: 'x' }),
    ],
    ['a record that lies', 'I4', (world) => record(world, { documents: 7 })],
    [
      'a record of another epoch than its name',
      'I4',
      (world) => record(world, { root: { epoch: 2 } }),
    ],
    ['a record of another state', 'I4', (world) => record(world, { epoch: 2 })],
    [
      'a record with a wrong floor',
      'I4',
      (world) => record(world, { floor: { at: 3, mutation: 2 } }),
    ],
    ['a record of no slot end', 'I4', (world) => misplaced(world)],
    [
      'a record that is no JSON',
      'I4',
      (world) => world.ghost.landed(checkpointKey(sequence(4), 1), bytes('x'), 5),
    ],
    [
      'a slot deleted above the floor',
      'I16',
      (world) => world.ghost.removed(slotKey(sequence(2)), 5),
    ],
    ['a slot deleted without a record', 'I16', (world) => uncovered(world)],
    ['a slot deleted that ends at the floor', 'I16', (world) => straddling(world)],
    ['a blob deleted that is named', 'I16', (world) => unnamed(world)],
    ['the newest record deleted', 'I16', (world) => world.ghost.removed(record(world), 50)],
    ['a write against the policy', 'policy', (world) => unruly(world)],
  ];
  test.each(cases)('%s', (_, rule, spoil) => {
    const world = example();
    expect(rules(world)).toEqual([]);
    spoil(world);
    expect(rules(world)).toContain(rule);
  });
});

const NEW = { path: '/n.md', text: 'new' };
const OTHER = { title: 'n', metadata: { x: 'y' } };
const LONG = `/${'x'.repeat(2500)}`;

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function stray(world: ForgedWorld, first: number, prev = world.tipHash): void {
  const slot = world.encode({ entries: [write(1)], bodies: [], first: sequence(first), prev });
  world.ghost.landed(slot.key, slot.bytes, 50);
}

/** Input of a slot with one control entry: nothing of it is wrong but what a test spoils. */
function one(world: ForgedWorld) {
  const pin = { kind: 'pin' as const, op: uuidOf(5), id: 'p', owner: 'o', expires: 1 };
  return { entries: [pin], bodies: [], first: sequence(world.tip + 1) };
}

function sealed(world: ForgedWorld): void {
  world.control(50, { kind: 'seal', reason: 'closed' });
  world.slot(60, [NEW]);
}

function spoilt(world: ForgedWorld, spoil: { readonly [field: string]: unknown }): void {
  const stored = storeVersion({
    version: Number(spoil['version'] ?? 1),
    previousHash: 'version' in spoil ? hashOf(1) : null,
    metadata: null,
    body: bytes('new'),
  });
  const sound = 'version' in spoil ? {} : { stored };
  world.slot(50, [{ ...NEW, ...sound, spoil }]);
}

function again(world: ForgedWorld, spoil: { readonly [field: string]: unknown }): void {
  world.slot(50, [{ path: '/a.md', text: 'more', spoil }]);
}

function onArchived(world: ForgedWorld): void {
  world.slot(50, [{ path: '/a.md', text: null }]);
  world.slot(60, [{ path: '/a.md', text: 'more' }]);
}

function twice(world: ForgedWorld): void {
  world.slot(50, [{ ...NEW, op: STALE }]);
  world.slot(60, [{ ...NEW, op: STALE }]);
}

function chained(world: ForgedWorld): void {
  const previousHash = hashOf(5);
  const stored = storeVersion({ version: 3, previousHash, metadata: null, body: bytes('x') });
  world.slot(50, [{ path: '/a.md', text: 'x', stored }]);
}

function unstaged(world: ForgedWorld): void {
  const missing = write(1, { path: '/n.md' });
  world.land(50, { entries: [missing], bodies: [], documents: 3 });
}

function floors(world: ForgedWorld): void {
  raiseFloor(world, sequence(4));
  raiseFloor(world, sequence(3));
}

function misplaced(world: ForgedWorld): void {
  const fields = {
    sequence: 2,
    slot: '',
    time: 0,
    documents: 1,
    epoch: 1,
    floor: { at: 2 },
    root: { epoch: 1 },
  };
  world.ghost.landed(checkpointKey(sequence(2), 1), forgedRecord(fields), 50);
}

function uncovered(world: ForgedWorld): void {
  raiseFloor(world, sequence(4));
  world.ghost.removed(slotKey(sequence(2)), 50);
}

function straddling(world: ForgedWorld): void {
  record(world);
  raiseFloor(world, sequence(3));
  world.ghost.removed(slotKey(sequence(2)), 50);
}

function unnamed(world: ForgedWorld): void {
  const key = world.ghost.blobs[0]?.key ?? '';
  world.ghost.removed(key, 50);
}

function unruly(world: ForgedWorld): void {
  const text = 'Prose.\n  strictness: block\nrequire_fields: owner\n';
  world.slot(50, [{ path: POLICY_PATH, text }]);
  world.slot(60, [{ ...NEW, metadata: { owner: 'o', tags: 'x' } }]);
  expect(rules(world)).toEqual([]);
  world.slot(70, [{ path: '/m.md', text: 'm', metadata: { tags: 'x' } }]);
}

test('changes are found by sequence, and where they are right', () => {
  const changes = new Changes<string>();
  expect(changes.at(5)).toBeUndefined();
  changes.add(3, 'x');
  changes.add(5, 'a');
  changes.add(5, 'b');
  changes.add(9, 'a');
  expect([2, 3, 4, 5, 8, 9, 99].map((at) => changes.at(at))).toEqual([
    ...[undefined, 'x', 'x', 'b', 'b', 'a', 'a'],
  ]);
  const range = { from: 1, to: 12 };
  expect(changes.where((value) => value === undefined, range)).toEqual([{ from: 1, to: 2 }]);
  expect(changes.where((value) => value !== 'b', range)).toEqual([
    { from: 1, to: 2 },
    { from: 3, to: 4 },
    { from: 9, to: 12 },
  ]);
  expect(changes.where((value) => value === 'b', { from: 6, to: 7 })).toEqual([{ from: 6, to: 7 }]);
});

test('an operation may be used again once its slot is below the floor, and not before', () => {
  const world = new ForgedWorld();
  world.slot(10, [{ path: '/a.md', text: 'one', op: STALE }]);
  world.slot(20, [{ path: '/b.md', text: 'two' }]);
  record(world);
  raiseFloor(world, sequence(3));
  world.slot(50, [{ path: '/c.md', text: 'three', op: STALE }]);
  expect(rules(world)).toEqual([]);
  world.slot(60, [{ path: '/d.md', text: 'four', op: STALE }]);
  expect(rules(world)).toEqual(['exactly once']);
});
