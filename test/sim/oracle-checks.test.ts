/**
 * Goal: what clients may be told of writes passes, and every answer that breaks a rule is told by
 * that rule.
 * Method: one small log made by hand; the answers to it right, then one of them made wrong.
 */
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { storeVersion } from '../../bucketstore/document/stored.ts';
import { blobKey } from '../../bucketstore/log/names.ts';
import { hashOf } from '../log/values.ts';
import { type ForgedChange, ForgedWorld } from './forged-world.ts';
import type { CalledMutation, TakenMutation } from './history.ts';
import { atAnswer, check, endState } from './oracle/checks.ts';
import {
  ARCHIVE,
  asks,
  call,
  example,
  expectTold,
  OPS,
  put,
  refused,
  rightAnswers,
  rulesOf,
  type Spoil,
  took,
  unknown,
} from './told-example.ts';

const [A, , C, D, X] = OPS;

test('`check()` has nothing to say of right answers', () => {
  const all = example();
  expect(all.world.ghost.violations).toEqual([]);
  expect(check([all.a, all.b, all.c, ...rightAnswers(all)], all.world.ghost)).toEqual([]);
  expect([...endState(all.world.ghost)]).toEqual([
    ['/a.md', { version: 2, etag: all.told[3]?.etag, archived: false }],
    ['/d/b.md', { version: 1, etag: all.told[2]?.etag, archived: true }],
  ]);
});

const cases: [string, string, Spoil][] = [
  [
    'a write that was acknowledged and lost',
    'exactly once',
    ({ told }) => ({
      calls: [call(X, [40, 50], [put('/a.md', 'one')], took(told[0] as TakenMutation))],
    }),
  ],
  ['an answer before the slot', 'I6', ({ a }) => ({ instead: { a: { ...a, returned: 9 } } })],
  [
    'another sequence',
    'exactly once',
    ({ a, told }) => ({
      instead: { a: { ...a, outcome: took({ ...(told[0] as TakenMutation), sequence: 3 }) } },
    }),
  ],
  [
    'another ETag',
    'exactly once',
    ({ a, told }) => ({
      instead: { a: { ...a, outcome: took({ ...(told[0] as TakenMutation), etag: hashOf(1) }) } },
    }),
  ],
  [
    'a part of a group',
    'exactly once',
    ({ b, told }) => ({
      instead: { b: { ...b, outcome: took(told[1] as TakenMutation) } },
    }),
  ],
  [
    'an entry that nobody asked for',
    'exactly once',
    ({ world }) => {
      world.slot(40, [{ path: '/n.md', text: 'n' }]);
      return {};
    },
  ],
  [
    'a write before its call',
    'exactly once',
    ({ a }) => ({ instead: { a: { ...a, called: 11 } } }),
  ],
  [
    'nothing committed of what is in the log',
    'exactly once',
    ({ a, told }) => ({
      instead: {
        a: {
          ...a,
          outcome: took({ ...(told[0] as TakenMutation), committed: false, sequence: null }),
        },
      },
    }),
  ],
  [
    'a refusal of what is in the log',
    'I6',
    ({ a }) => ({
      instead: { a: { ...a, outcome: refused('CONFLICT') } },
    }),
  ],
  [
    'a refusal of what comes later',
    'I6',
    ({ world }) => {
      world.slot(90, [{ path: '/n.md', text: 'n', op: D }]);
      return { calls: [call(D, [40, 50], [put('/n.md', 'n')], refused('OVERLOADED'))] };
    },
  ],
  [
    'an answer that says neither',
    'outcome',
    () => ({
      calls: [call(D, [40, 50], [put('/n.md', 'n')], { kind: 'unclear', message: 'boom' })],
    }),
  ],
  [
    'unchanged, which it never was',
    'outcome',
    ({ told }) => ({
      calls: [
        call(
          D,
          [40, 50],
          [put('/a.md', 'one')],
          took({ ...(told[0] as TakenMutation), committed: false }),
        ),
      ],
    }),
  ],
  [
    'a group that no state refuses',
    'outcome',
    () => ({
      calls: [call(D, [40, 50], [put('/a.md', 'x'), put('/n.md', 'y')], refused('CONFLICT', 1))],
    }),
  ],
  [
    'a write too old above the floor',
    'outcome',
    ({ c }) => ({
      instead: { c: { ...c, outcome: { kind: 'too old' } } },
    }),
  ],
  [
    'an unknown after no slot',
    'unknown',
    () => ({
      calls: [call(D, [40, 50], [put('/n.md', 'n')], unknown(3))],
    }),
  ],
  [
    'an unknown that is in another slot',
    'unknown',
    ({ c }) => ({
      instead: { c: { ...c, outcome: unknown(2) } },
    }),
  ],
  [
    'an operation that is committed and is not',
    'exactly once',
    ({ told }) => ({
      calls: [asks(D, 1, { kind: 'committed', taken: told.slice(0, 1) })],
    }),
  ],
  [
    'an operation that is not committed and is',
    'unknown',
    ({ c }) => ({
      instead: { c: { ...c, outcome: unknown(4) } },
      calls: [asks(C, 4, { kind: 'not committed' })],
    }),
  ],
  [
    'an operation not committed that lands',
    'unknown',
    ({ world }) => {
      world.slot(200, [{ path: '/n.md', text: 'n', op: D }]);
      return {
        calls: [
          call(D, [40, 50], [put('/n.md', 'n')], unknown(5)),
          asks(D, 5, { kind: 'not committed' }),
        ],
      };
    },
  ],
  [
    'an operation too old above the floor',
    'unknown',
    () => ({
      calls: [asks(D, 1, { kind: 'too old' })],
    }),
  ],
  [
    'an operation open behind which a slot is',
    'unknown',
    () => ({
      calls: [asks(D, 1, { kind: 'open' })],
    }),
  ],
  [
    'another body',
    'content',
    ({ a }) => ({
      instead: { a: { ...a, mutations: [put('/a.md', 'other', { expected: 'absent' })] } },
    }),
  ],
  [
    'other metadata',
    'content',
    ({ b }) => ({
      instead: { b: { ...b, mutations: [put('/d/b.md', 'large'), put('/d/b.md', '', ARCHIVE)] } },
    }),
  ],
  [
    'an append that took another body',
    'content',
    ({ c }) => ({
      instead: { c: { ...c, mutations: [put('/a.md', 'too', { kind: 'append', expected: 1 })] } },
    }),
  ],
  [
    'an archive the other way',
    'content',
    ({ b }) => ({
      instead: {
        b: {
          ...b,
          mutations: [b.mutations[0] as CalledMutation, put('/d/b.md', '', { kind: 'archive' })],
        },
      },
    }),
  ],
  [
    'an expectation that failed',
    'expected',
    ({ c }) => ({
      instead: { c: { ...c, mutations: [{ ...(c.mutations[0] as CalledMutation), expected: 2 }] } },
    }),
  ],
  [
    'an ETag that was another',
    'expected',
    ({ c }) => ({
      instead: {
        c: {
          ...c,
          mutations: [{ ...(c.mutations[0] as CalledMutation), expected: { etag: hashOf(1) } }],
        },
      },
    }),
  ],
  [
    'a precondition that failed',
    'precondition',
    ({ c }) => ({
      instead: {
        c: {
          ...c,
          mutations: [
            { ...(c.mutations[0] as CalledMutation), requires: { path: '/d/b.md', version: 0 } },
          ],
        },
      },
    }),
  ],
  [
    'a conflict without cause',
    'linearizable',
    () => ({
      calls: [call(D, [40, 50], [put('/a.md', 'x', { expected: 2 })], refused('CONFLICT', 2))],
    }),
  ],
  [
    'a staged version of no write',
    'I9',
    ({ world }) => {
      const body = new TextEncoder().encode('stray');
      const bytes = storeVersion({ version: 1, previousHash: null, metadata: null, body });
      world.ghost.landed(blobKey(1, sha256Hex(bytes)), bytes, 40);
      return {};
    },
  ],
  [
    'too many staged versions',
    'I9',
    ({ world }) => {
      for (let version = 2; version < 40; version++) {
        const body = new TextEncoder().encode('large');
        const bytes = storeVersion({ version, previousHash: hashOf(1), metadata: null, body });
        world.ghost.landed(blobKey(1, sha256Hex(bytes)), bytes, 40);
      }
      return {};
    },
  ],
];

describe('`check()` tells of', () => {
  test.each(cases)('%s', (_, rule, spoil) => expectTold(rule, spoil));
});

describe('what another attempt explains is right', () => {
  const change: ForgedChange = { path: '/n.md', text: 'n', op: D };
  const first = call(D, [40, 50], [put('/n.md', 'n')], unknown(5));
  test('an unknown, then the repeat that is taken elsewhere', () => {
    const { world, a, b, c } = example();
    world.slot(60, [{ path: '/m.md', text: 'm', op: X }]);
    const taken = world.slot(70, [change]);
    const other = call(X, [55, 65], [put('/m.md', 'm')], unknown(5));
    const again = call(D, [66, 75], [put('/n.md', 'n')], took(...taken));
    const asked = asks(D, 5, { kind: 'not committed' }, 67);
    const gone = call(D, [52, 53], [put('/n.md', 'n')], refused('OVERLOADED'));
    expect(check([a, b, c, other, first, gone, again, asked], world.ghost)).toEqual([]);
    // Without the repeat, it is where its answer did not say, and comes after it could not.
    expect(rulesOf([a, b, c, other, first], world)).toContain('unknown');
    expect(rulesOf([a, b, c, other, first, asked], world)).toContain('unknown');
    expect(rulesOf([a, b, c, other, gone], world)).toContain('I6');
  });
});

test('`check()` tells of requests that overtook others in their store', () => {
  const world = new ForgedWorld();
  const [a, d] = [put('/a.md', 'one'), put('/d.md', 'two')];
  const [first, second] = world.slot(10, [
    { path: '/a.md', text: 'one', op: A },
    { path: '/d.md', text: 'two', op: D },
  ]);
  const history = (called: number) => [
    call(A, [5, 15], [a], took(first as TakenMutation)),
    call(D, [called, 15], [d], took(second as TakenMutation)),
  ];
  expect(rulesOf(history(5), world)).toEqual([]);
  expect(rulesOf(history(4), world)).toEqual(['I5']);
});

test('`atAnswer()` tells of an answer that comes before its slot', () => {
  const world = new ForgedWorld();
  const taken = { path: '/a.md', version: 1, etag: hashOf(1), archived: false, committed: true };
  const early = call(A, [5, 9], [put('/a.md', 'one')], took({ ...taken, sequence: 2 }));
  expect(atAnswer(early, world.ghost, 9).map(({ rule }) => rule)).toEqual(['exactly once']);
  const [right] = world.slot(10, [{ path: '/a.md', text: 'one', op: A }]);
  const late = call(A, [5, 11], [put('/a.md', 'one')], took(right as TakenMutation));
  expect(atAnswer(late, world.ghost, 11)).toEqual([]);
  const asked = asks(A, 1, { kind: 'committed', taken: [{ ...taken, sequence: 2 }] });
  expect(atAnswer(asked, world.ghost, 11)).toHaveLength(1);
  const unclear = call(A, [5, 9], [], { kind: 'unclear', message: 'boom' });
  expect(atAnswer(unclear, world.ghost, 9).map(({ rule }) => rule)).toEqual(['outcome']);
});
