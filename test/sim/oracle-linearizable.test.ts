/**
 * Goal: the checker answers as one that tries every order, and the model of a document refuses what
 * no order explains.
 * Method: random small histories against brute force; hand-made histories of a document.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DocumentCall, documentModel } from './oracle/document-model.ts';
import { checkLinearizable, type SequentialModel, type TimedCall } from './oracle/linearizable.ts';

/** A register: writes, reads, and writes only where the old value is right. */
type RegisterCall = TimedCall &
  (
    | { readonly kind: 'write'; readonly value: number }
    | { readonly kind: 'read'; readonly value: number }
    | {
        readonly kind: 'swap';
        readonly from: number;
        readonly value: number;
        readonly won: boolean;
      }
  );

const register: SequentialModel<number, RegisterCall> = {
  initial: 0,
  key: String,
  step: (state, call) => {
    if (call.kind === 'write') return call.value;
    if (call.kind === 'read') return call.value === state ? state : null;
    if ((state === call.from) !== call.won) return null;
    return call.won ? call.value : state;
  },
};

/** Tries every order. */
function bruteForce<S, C extends TimedCall>(
  model: SequentialModel<S, C>,
  calls: readonly C[],
  state: S = model.initial,
): boolean {
  if (calls.every(({ returned }) => returned === null)) return true;
  return calls.some((call, index) => {
    const rest = calls.filter((_, other) => other !== index);
    if (rest.some(({ returned }) => returned !== null && returned < call.called)) return false;
    const after = model.step(state, call);
    return after !== null && bruteForce(model, rest, after);
  });
}

const value = fc.integer({ min: 0, max: 2 });
const times = fc.record({
  called: fc.integer({ min: 0, max: 12 }),
  lasts: fc.option(fc.integer({ min: 0, max: 6 }), { freq: 5 }),
});
const what = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), value }),
  fc.record({ kind: fc.constant('read' as const), value }),
  fc.record({ kind: fc.constant('swap' as const), from: value, value, won: fc.boolean() }),
);
const registerCall = fc.tuple(times, what).map(([{ called, lasts }, call]): RegisterCall => {
  return { ...call, called, returned: lasts === null ? null : called + lasts };
});

test('`checkLinearizable()` answers as brute force does, on registers', () => {
  const seen = new Map<string, number>();
  const histories = fc.array(registerCall, { minLength: 1, maxLength: 7 });
  fc.assert(
    fc.property(histories, (calls) => {
      const verdict = checkLinearizable(register, calls);
      seen.set(verdict, (seen.get(verdict) ?? 0) + 1);
      return (verdict === 'linearizable') === bruteForce(register, calls);
    }),
    { numRuns: 3000 },
  );
  // Both answers are met often, so that agreeing means something.
  for (const verdict of ['linearizable', 'not linearizable']) {
    expect(seen.get(verdict)).toBeGreaterThan(300);
  }
});

test('`checkLinearizable()` of a history that was made in some order says so', () => {
  const made = fc.array(fc.tuple(what, fc.nat(9), fc.nat(9)), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(made, (list) => {
      let state = 0;
      const calls = list.map(([call, before, after], index): RegisterCall => {
        const span = { called: 3 * index - before, returned: 3 * index + after };
        if (call.kind === 'read') return { ...call, ...span, value: state };
        const won = call.kind === 'swap' ? call.from === state : true;
        if (won) state = call.value;
        return call.kind === 'swap' ? { ...call, ...span, won } : { ...call, ...span };
      });
      return checkLinearizable(register, calls) === 'linearizable';
    }),
  );
});

test('`checkLinearizable()` gives up at its bound', () => {
  const calls: RegisterCall[] = Array.from({ length: 12 }, (_, index) => {
    return { kind: 'write', value: index + 1, called: 0, returned: 10 };
  });
  const read: RegisterCall = { kind: 'read', value: 99, called: 20, returned: 21 };
  expect(checkLinearizable(register, [...calls, read], 1000)).toBe('gave up');
  expect(checkLinearizable(register, [...calls.slice(0, 6), read])).toBe('not linearizable');
});

/** A write, at `[called, returned]`. */
function put(
  [called, returned]: readonly [number, number | null],
  body: string,
  rest: Partial<Extract<DocumentCall, { readonly outcome: unknown }>> = {},
): DocumentCall {
  const outcome = { kind: 'unknown' } as const;
  const asked = { kind: 'publish', archived: false, expected: 'any', outcome } as const;
  return { ...asked, ...rest, body, called, returned };
}

function took(version: number, etag: string, archived = false, committed = true) {
  return { outcome: { kind: 'taken' as const, version, etag, archived, committed } };
}

function refused(code: string, currentVersion: number | null = null) {
  return { outcome: { kind: 'refused' as const, code, currentVersion } };
}

function get(
  at: number,
  body: string | null,
  version = 1,
  etag = 'e',
  archived = false,
): DocumentCall {
  const answer = body === null ? null : { version, etag, archived, body };
  return { kind: 'get', called: at, returned: at + 1, answer };
}

describe('the model of a document', () => {
  const first = put([0, 5], 'a', took(1, 'e1'));
  const archive = put([10, 15], '', { kind: 'archive', archived: true, ...took(1, 'e1', true) });
  const right: [string, DocumentCall[]][] = [
    ['versions in turn', [first, put([6, 9], 'b', { expected: 1, ...took(2, 'e2') })]],
    [
      'an append',
      [first, put([6, 9], 'b', { kind: 'append', ...took(2, 'e') }), get(10, 'a\nb', 2)],
    ],
    ['overlapping writes', [put([0, 9], 'b', took(2, 'e2')), put([1, 9], 'a', took(1, 'e1'))]],
    [
      'an unknown that landed',
      [put([0, null], 'a'), get(50, 'a'), put([60, 61], 'b', took(2, 'f'))],
    ],
    ['an unknown that never did', [put([0, null], 'a'), get(50, null)]],
    ['an unknown that landed late', [put([0, null], 'a'), get(50, null), get(60, 'a')]],
    ['a conflict', [first, put([6, 7], 'b', { expected: 7, ...refused('CONFLICT', 1) })]],
    [
      'a conflict on an ETag not seen',
      [
        put([0, null], 'a'),
        put([6, 7], 'b', { expected: { etag: 'x' }, ...refused('CONFLICT', 1) }),
      ],
    ],
    [
      'archived',
      [first, archive, put([20, 21], 'b', refused('ARCHIVED')), get(30, 'a', 1, 'e1', true)],
    ],
    ['nothing to archive', [put([0, 1], '', { kind: 'archive', ...refused('NOT_FOUND') })]],
    ['nothing changed', [first, put([6, 7], 'a', took(1, 'e1', false, false))]],
    [
      'archived already',
      [
        ...[first, archive],
        put([20, 21], '', { kind: 'archive', archived: true, ...took(1, 'e1', true, false) }),
      ],
    ],
  ];
  test.each(right)('explains %s', (_, calls) => {
    expect(checkLinearizable(documentModel(), calls)).toBe('linearizable');
  });

  const wrong: [string, DocumentCall[]][] = [
    ['a version given twice', [first, put([6, 9], 'b', took(1, 'e2'))]],
    ['a version left out', [first, put([6, 9], 'b', took(3, 'e2'))]],
    ['a write that was lost', [first, get(10, null)]],
    [
      'an expectation that failed',
      [first, put([6, 9], 'b', { expected: 'absent', ...took(2, 'e') })],
    ],
    [
      'an ETag that was not met',
      [first, put([6, 9], 'b', { expected: { etag: 'x' }, ...took(2, 'e') })],
    ],
    ['a write seen before it was called', [get(0, 'a', 1, 'e1'), put([6, 9], 'a', took(1, 'e1'))]],
    [
      'a write that came and went',
      [put([0, null], 'a'), ...[get(10, 'a', 1), get(20, null), put([30, 31], 'b', took(1, 'f'))]],
    ],
    [
      'an unknown read with two ETags',
      [put([0, null], 'a'), get(10, 'a', 1, 'x'), get(20, 'a', 1, 'y')],
    ],
    ['another body', [first, get(10, 'b', 1, 'e1')]],
    [
      'an append that lost the old body',
      [first, put([6, 9], 'b', { kind: 'append', ...took(2, 'e') }), get(10, 'b', 2)],
    ],
    [
      'a conflict without cause',
      [first, put([6, 7], 'b', { expected: 1, ...refused('CONFLICT', 1) })],
    ],
    [
      'a conflict with another version',
      [first, put([6, 7], 'b', { expected: 7, ...refused('CONFLICT', 4) })],
    ],
    ['archived without cause', [first, put([6, 7], 'b', refused('ARCHIVED'))]],
    ['a write to an archived document', [first, archive, put([20, 21], 'b', took(2, 'f'))]],
    [
      'not found without cause',
      [first, put([6, 7], '', { kind: 'archive', archived: true, ...refused('NOT_FOUND') })],
    ],
    ['a collision with itself', [first, put([6, 7], 'b', refused('PATH_COLLISION'))]],
    ['nothing changed by another body', [first, put([6, 7], 'b', took(1, 'e1', false, false))]],
    [
      'an append that changed nothing',
      [first, put([6, 7], 'a', { kind: 'append', ...took(1, 'e1', false, false) })],
    ],
    ['an archive that was undone', [first, archive, get(20, 'a', 1, 'e1')]],
    [
      'an archive of another version',
      [first, put([10, 15], '', { kind: 'archive', archived: true, ...took(2, 'e1', true) })],
    ],
  ];
  test.each(wrong)('refuses %s', (_, calls) => {
    expect(checkLinearizable(documentModel(), calls)).toBe('not linearizable');
  });
});
