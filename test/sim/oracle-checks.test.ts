/**
 * Goal: what clients may be told passes, and every answer that breaks a rule is told by that rule.
 * Method: one small log made by hand; the answers to it right, then one of them made wrong.
 */
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { storeVersion } from '../../bucketstore/document/stored.ts';
import { blobKey } from '../../bucketstore/log/names.ts';
import { hashOf, uuidOf } from '../log/values.ts';
import { type ForgedChange, ForgedWorld } from './forged-world.ts';
import type {
  Call,
  CalledMutation,
  OperationCall,
  ReadAnswer,
  ReadCall,
  TakenMutation,
  ViewCall,
  WriteCall,
  WriteOutcome,
} from './history.ts';
import { atAnswer, check, endState } from './oracle/checks.ts';

const [A, B, C, D, X] = [1, 2, 3, 4, 5].map(uuidOf) as [string, string, string, string, string];

function rulesOf(history: readonly Call[], world: ForgedWorld): string[] {
  return check(history, world.ghost).map(({ rule }) => rule);
}

function put(path: string, body: string, rest: Partial<CalledMutation> = {}): CalledMutation {
  const asked = { kind: 'publish', metadata: null, archived: false, expected: 'any' } as const;
  return { ...asked, requires: null, path, body, ...rest };
}

function call(
  op: string,
  [called, returned]: readonly [number, number | null],
  mutations: readonly CalledMutation[],
  outcome: WriteOutcome | null,
): WriteCall {
  return { kind: 'write', process: 'p', op, mutations, called, returned, outcome };
}

function took(...taken: readonly TakenMutation[]): WriteOutcome {
  return { kind: 'taken', taken };
}

function refused(code: string, currentVersion: number | null = null): WriteOutcome {
  return { kind: 'refused', code, message: '', currentVersion };
}

function unknown(after: number): WriteOutcome {
  return { kind: 'unknown', after, message: '' };
}

function asks(op: string, after: number, answer: OperationCall['answer'], at = 100): OperationCall {
  return { kind: 'operation', process: 'p', op, after, called: at, returned: at + 5, answer };
}

function read(
  what: ReadCall['what'],
  path: string,
  answer: ReadAnswer | null,
  called = 100,
): ReadCall {
  return { what, path, called, returned: called + 5, answer };
}

function view(reads: readonly ReadCall[], disturbed = false): ViewCall {
  return { kind: 'view', process: 'p', reads, disturbed };
}

const SPACED = { kind: 'archive' as const, archived: true };

interface Example {
  readonly world: ForgedWorld;
  readonly a: WriteCall;
  readonly b: WriteCall;
  readonly c: WriteCall;
  /** What operations A, B and C were told of each mutation. */
  readonly told: readonly TakenMutation[];
}

/**
 * A publishes /a.md (2) and again as C (5, an append); B is a group that publishes /d/b.md (3,
 * staged) and archives it (4). They land at 10, 20 and 30 and are answered 5 ms later.
 */
function example(): Example {
  const world = new ForgedWorld();
  const first = world.slot(10, [{ path: '/a.md', text: 'one', op: A }]);
  const second = world.slot(20, [
    { path: '/d/b.md', text: 'large', staged: true, op: B, group: 2, metadata: { x: 'y' } },
    { path: '/d/b.md', text: null },
  ]);
  const type = { type: 'Document' };
  const third = world.slot(30, [
    { path: '/a.md', text: 'one\ntwo', verb: 'append', op: C, metadata: type },
  ]);
  const group = [put('/d/b.md', 'large', { metadata: { x: 'y' } }), put('/d/b.md', '', SPACED)];
  const requires = { path: '/d/b.md', version: 1 };
  const append = put('/a.md', 'two', { kind: 'append', expected: 1, requires });
  return {
    world,
    a: call(A, [5, 15], [put('/a.md', 'one', { expected: 'absent' })], took(...first)),
    b: call(B, [16, 25], group, took(...second)),
    c: call(C, [26, 35], [append], took(...third)),
    told: [...first, ...second, ...third],
  };
}

/** What a read of /a.md is answered while its version is this. */
function aMd(told: readonly TakenMutation[], version: 1 | 2): ReadAnswer {
  const { etag } = told[version === 1 ? 0 : 3] as TakenMutation;
  const body = version === 1 ? 'one' : 'one\ntwo';
  return { kind: 'document', version, etag, archived: false, body };
}

/** Everything that may rightly be told of the example. */
function rightAnswers({ told, world }: Example): Call[] {
  const [a1, b1, b2, a2] = told as [TakenMutation, TakenMutation, TakenMutation, TakenMutation];
  const absent = { kind: 'absent' } as const;
  const names = (...list: string[]) => ({ kind: 'names', names: list }) as const;
  const hash = `sha256-${sha256Hex('large')}`;
  const unchanged = { ...a1, committed: false, sequence: null };
  const b = [put('/d/b.md', 'large', { expected: 9 }), put('/q.md', 'q')];
  return [
    call(uuidOf(10), [16, 18], [put('/a.md', 'one')], took(unchanged)),
    call(uuidOf(11), [16, 18], [put('/a.md', 'x', { expected: 'absent' })], refused('CONFLICT', 1)),
    call(uuidOf(12), [40, 41], [put('/d/b.md', 'x')], refused('ARCHIVED')),
    call(uuidOf(13), [40, 41], [put('/q.md', '', SPACED)], refused('NOT_FOUND')),
    call(uuidOf(14), [40, 41], [put('/q.md', 'q')], unknown(5)),
    call(uuidOf(15), [40, null], [put('/q.md', 'q')], null),
    call(uuidOf(16), [40, 41], b, refused('CONFLICT', 1)),
    call(B, [50, 60], [put('/d/b.md', 'large'), put('/d/b.md', '', SPACED)], took(b1, b2)),
    asks(A, 1, { kind: 'committed', taken: [a1] }),
    asks(uuidOf(14), 5, { kind: 'open' }),
    asks(uuidOf(17), 1, { kind: 'not committed' }),
    view([read('get', '/a.md', aMd(told, 2)), read('get', '/q.md', absent)]),
    view([read('get', '/a.md', aMd(told, 1), 28), read('list', '/d', names(), 200)]),
    view([
      read('list', '/', names('a.md'), 500),
      read('isDir', '/d', { kind: 'directory', isDir: true }),
    ]),
    view([read('hash', hash, absent), read('list', '/a.md', absent), read('isDir', '/q', absent)]),
    view([read('versions', '/a.md', { kind: 'versions', etags: [a2.etag, a1.etag] })]),
    view([read('list', '/', names('a.md'), 1010), read('get', '/a.md', aMd(told, 1), 1010)]),
    view([read('hash', `sha256-${sha256Hex('one')}`, { kind: 'path', path: '/a.md' }, 900)]),
    view([read('isDir', '/a.md', { kind: 'directory', isDir: false }), read('get', '/x', null)]),
  ].filter(() => world.tip === 5);
}

test('`check()` has nothing to say of right answers', () => {
  const all = example();
  expect(all.world.ghost.violations).toEqual([]);
  expect(check([all.a, all.b, all.c, ...rightAnswers(all)], all.world.ghost)).toEqual([]);
  expect([...endState(all.world.ghost)]).toEqual([
    ['/a.md', { version: 2, etag: all.told[3]?.etag, archived: false }],
    ['/d/b.md', { version: 1, etag: all.told[2]?.etag, archived: true }],
  ]);
});

/** A history with `calls` beside the example's own, some of which are replaced. */
type Spoil = (all: Example) => {
  readonly calls?: readonly Call[];
  readonly instead?: Partial<Example>;
};

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
      instead: { b: { ...b, mutations: [put('/d/b.md', 'large'), put('/d/b.md', '', SPACED)] } },
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
    'a path read that misses an acknowledged write',
    'I14',
    ({ told }) => ({
      calls: [view([read('get', '/a.md', aMd(told, 1), 36)])],
    }),
  ],
  [
    'a path read after one that failed',
    'I14',
    ({ told }) => ({
      calls: [view([read('get', '/q.md', null, 36), read('get', '/a.md', aMd(told, 1), 50)])],
    }),
  ],
  [
    'a list that is too old',
    'I14',
    () => ({
      calls: [view([read('list', '/', { kind: 'names', names: [] }, 1017)])],
    }),
  ],
  [
    'a read of the future',
    'I15',
    ({ told }) => ({
      calls: [view([read('get', '/a.md', aMd(told, 2), 20)])],
    }),
  ],
  [
    'two states in a view',
    'I15',
    ({ told }) => ({
      calls: [
        view([
          read('get', '/d/b.md', { kind: 'absent' }, 14),
          read('get', '/a.md', aMd(told, 2), 50),
        ]),
      ],
    }),
  ],
  [
    'a state that came after the first answer',
    'I15',
    ({ told }) => ({
      calls: [
        view([
          read('get', '/q.md', { kind: 'absent' }, 14),
          read('get', '/a.md', aMd(told, 2), 50),
        ]),
      ],
    }),
  ],
  [
    'a document that never was',
    'I15',
    ({ told }) => ({
      calls: [view([read('get', '/q.md', aMd(told, 1))])],
    }),
  ],
  [
    'versions that are not retained',
    'I15',
    ({ told }) => ({
      calls: [
        view([read('versions', '/a.md', { kind: 'versions', etags: [told[0]?.etag ?? '', ''] })]),
      ],
    }),
  ],
  [
    'a list that shows what is archived',
    'I15',
    () => ({
      calls: [view([read('list', '/d', { kind: 'names', names: ['b.md'] })])],
    }),
  ],
  [
    'a list in another order, or of another kind',
    'I15',
    () => ({
      calls: [view([read('list', '/', { kind: 'names', names: ['a.md/'] })])],
    }),
  ],
  [
    'a directory that is none',
    'I15',
    () => ({
      calls: [view([read('isDir', '/q', { kind: 'directory', isDir: true })])],
    }),
  ],
  [
    'a document said to be a directory',
    'I15',
    () => ({
      calls: [view([read('isDir', '/a.md', { kind: 'directory', isDir: true })])],
    }),
  ],
  [
    'a hash that leads to what is archived',
    'I15',
    () => ({
      calls: [
        view([read('hash', `sha256-${sha256Hex('large')}`, { kind: 'path', path: '/d/b.md' })]),
      ],
    }),
  ],
  [
    'a body of another version',
    'body',
    ({ told }) => ({
      calls: [view([read('get', '/a.md', { ...aMd(told, 2), body: 'one' } as ReadAnswer)])],
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
  test.each(cases)('%s', (_, rule, spoil) => {
    const all = example();
    const { calls = [], instead = {} } = spoil(all);
    expect(all.world.ghost.violations).toEqual([]);
    const { a, b, c } = { ...all, ...instead };
    expect(rulesOf([a, b, c, ...calls], all.world)).toContain(rule);
  });
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
