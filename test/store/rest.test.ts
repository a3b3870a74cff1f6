/**
 * Goal: a state moves to a newer checkpoint only when that has each document as the state itself
 * saw it made; slots stay known as long as no pack has what they inline.
 * Method: a replayed state, put onto the bases of states that differ from it in one thing each.
 */
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { BaseState } from '../../bucketstore/snapshot/base.ts';
import { refusal } from '../log/forge.ts';
import { archive, hashOf, INCARNATION, inlined, WORLD, write } from '../log/values.ts';
import { EntryLog } from '../support/checkpoint-writer.ts';
import { atCheckpoint } from '../support/map-base.ts';

type Entries = Parameters<EntryLog['add']>[1][];

/** Entries at 2, 3 … */
function logOf(entries: Readonly<Entries>): EntryLog {
  const log = new EntryLog({ worldId: WORLD, incarnationId: INCARNATION });
  for (const [index, entry] of entries.entries()) {
    const stored = entry.kind === 'write' && entry.at === 'slot' ? Buffer.from('text') : null;
    expect(log.add(2 + index, entry, stored)).toBe(true);
  }
  return log;
}

const A = '/a.md';
const B = '/b.md';
const SEEN: Entries = [
  inlined(1, 'text', { path: A }),
  inlined(2, 'text', { path: B }),
  inlined(3, 'text', { path: A, version: 2, first: 2, bodyHash: hashOf(3) }),
  // Behind the checkpoint at 4.
  archive(4, { path: B, version: 1, first: 1 }),
  inlined(5, 'text', { path: A, version: 3, first: 2, bodyHash: hashOf(5) }),
  write(6, { path: '/c.md' }),
];
const AT = sequence(4);

/** What the checkpoint at 4 would hold after other entries. */
function baseAfter(entries: Readonly<Entries>): BaseState {
  return atCheckpoint(logOf(entries).state(AT)).base;
}

describe('a state', () => {
  test('holds after a move what has changed since the checkpoint, and nothing else', () => {
    const state = logOf(SEEN).end;
    const moved = state.rebase(baseAfter(SEEN), AT);
    expect([...moved.changed()].map(([path]) => path)).toEqual([A, B, '/c.md']);
    expect([...moved.changedVersions(A)].map(({ version }) => version)).toEqual([3]);
    expect([...moved.changedVersions(B)]).toEqual([]);
    expect(moved.documentCount).toBe(3);
    expect(moved.tip).toEqual(state.tip);
    expect(moved.lookupHash(hashOf(2))).toBeUndefined();
    expect(moved.lookupHash(hashOf(5))).toBe(A);
  });

  test('knows the slots behind what is packed', () => {
    const state = logOf(SEEN).end;
    const known = (moved: typeof state): number[] =>
      [2, 3, 4, 5, 6, 7].filter((at) => moved.slotOf(at) !== undefined);
    expect(known(state.rebase(baseAfter(SEEN), AT, sequence(2)))).toEqual([3, 4, 5, 6, 7]);
    expect(known(state.rebase(baseAfter(SEEN), AT))).toEqual([5, 6, 7]);
  });

  const [first, second, third] = SEEN.slice(0, 3) as [Entries[0], Entries[0], Entries[0]];
  const other = write(9, { path: '/z.md' });
  const again = { path: A, version: 2, first: 2, bodyHash: hashOf(3) };
  test.each<[string, string, Entries]>([
    ['lacks a document', B, [first, other, third]],
    [
      'has another body of it',
      A,
      [first, second, inlined(3, 't', { ...again, bodyHash: hashOf(9) })],
    ],
    ['retains more of it', A, [first, second, inlined(3, 'text', { ...again, first: 1 })]],
    ['has an older version of it', A, [first, second]],
    ['has it archived', B, [first, second, third, archive(4, { path: B, version: 1, first: 1 })]],
    ['has one too many', '/', [first, second, third, other]],
  ])('refuses a checkpoint that %s', (_, path, entries) => {
    const { base } = atCheckpoint(logOf(entries).end);
    // As of the checkpoint, so that all of it must be there.
    const state = logOf(SEEN).state(AT);
    refusal(path, () => state.rebase(base, AT));
    expect(state.rebase(baseAfter(SEEN), AT).documentCount).toBe(2);
  });

  test('does not move to a checkpoint beyond its tip', () => {
    const state = logOf(SEEN).end;
    const base = baseAfter(SEEN);
    expect(() => state.rebase(base, sequence(state.tip.sequence + 1))).toThrow(InvariantError);
  });
});
