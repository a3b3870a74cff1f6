/** A small log made by hand, what its clients were told, and other answers that are right. */
import { expect } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { uuidOf } from '../log/values.ts';
import { ForgedWorld } from './forged-world.ts';
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
import { check } from './oracle/checks.ts';

export const OPS: readonly [string, string, string, string, string] = [
  ...[uuidOf(1), uuidOf(2)],
  ...[uuidOf(3), uuidOf(4), uuidOf(5)],
] as [string, string, string, string, string];
const [A, B, C] = OPS;

export function rulesOf(history: readonly Call[], world: ForgedWorld): string[] {
  return check(history, world.ghost).map(({ rule }) => rule);
}

export function put(
  path: string,
  body: string,
  rest: Partial<CalledMutation> = {},
): CalledMutation {
  const asked = { kind: 'publish', metadata: null, archived: false, expected: 'any' } as const;
  return { ...asked, requires: null, path, body, ...rest };
}

export function call(
  op: string,
  [called, returned]: readonly [number, number | null],
  mutations: readonly CalledMutation[],
  outcome: WriteOutcome | null,
): WriteCall {
  return { kind: 'write', process: 'p', op, mutations, called, returned, outcome };
}

export function took(...taken: readonly TakenMutation[]): WriteOutcome {
  return { kind: 'taken', taken };
}

export function refused(code: string, currentVersion: number | null = null): WriteOutcome {
  return { kind: 'refused', code, message: '', currentVersion };
}

export function unknown(after: number): WriteOutcome {
  return { kind: 'unknown', after, message: '' };
}

export function asks(
  op: string,
  after: number,
  answer: OperationCall['answer'],
  at = 100,
): OperationCall {
  return { kind: 'operation', process: 'p', op, after, called: at, returned: at + 5, answer };
}

export function read(
  what: ReadCall['what'],
  path: string,
  answer: ReadAnswer | null,
  called = 100,
): ReadCall {
  return { what, path, called, returned: called + 5, answer };
}

export function view(reads: readonly ReadCall[], disturbed = false): ViewCall {
  // A process for each view: what one process has shown binds what it shows later.
  const process = `reader ${reads.map(({ what, path, called }) => `${what} ${path} ${called}`)}`;
  return { kind: 'view', process, reads, disturbed };
}

/** An archive. */
export const ARCHIVE = { kind: 'archive' as const, archived: true };

export interface Example {
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
export function example(): Example {
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
  const group = [put('/d/b.md', 'large', { metadata: { x: 'y' } }), put('/d/b.md', '', ARCHIVE)];
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
export function aMd(told: readonly TakenMutation[], version: 1 | 2): ReadAnswer {
  const { etag } = told[version === 1 ? 0 : 3] as TakenMutation;
  const body = version === 1 ? 'one' : 'one\ntwo';
  return { kind: 'document', version, etag, archived: false, body };
}

/** Everything that may rightly be told of the example. */
export function rightAnswers({ told, world }: Example): Call[] {
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
    call(uuidOf(13), [40, 41], [put('/q.md', '', ARCHIVE)], refused('NOT_FOUND')),
    call(uuidOf(14), [40, 41], [put('/q.md', 'q')], unknown(5)),
    call(uuidOf(15), [40, null], [put('/q.md', 'q')], null),
    call(uuidOf(16), [40, 41], b, refused('CONFLICT', 1)),
    call(B, [50, 60], [put('/d/b.md', 'large'), put('/d/b.md', '', ARCHIVE)], took(b1, b2)),
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

/** A history with `calls` beside the example's own, some of which are replaced. */
export type Spoil = (all: Example) => {
  readonly calls?: readonly Call[];
  readonly instead?: Partial<Example>;
};
/** Expects that an example with one thing made wrong is told of by a rule. */
export function expectTold(rule: string, spoil: Spoil): void {
  const all = example();
  const { calls = [], instead = {} } = spoil(all);
  expect(all.world.ghost.violations).toEqual([]);
  const { a, b, c } = { ...all, ...instead };
  expect(rulesOf([a, b, c, ...calls], all.world)).toContain(rule);
}
