/**
 * Goal: the oracle finds nothing wrong with what real stores do and tell under faults, and does
 * find what is made wrong in the very same history.
 * Method: small simulated runs of two stores; then answers of theirs changed one by one.
 */
import { describe, expect, test } from 'vitest';
import type { Call } from './history.ts';
import { check } from './oracle/checks.ts';
import { smallRun } from './small-run.ts';

const SEEDS = [1, 2, 3, 4, 5, 6];

describe('stores under faults keep every rule', () => {
  test.each(SEEDS)('seed %i', async (seed) => {
    const { history, ghost } = await smallRun(seed, 25);
    expect(ghost.violations).toEqual([]);
    expect(check(history, ghost)).toEqual([]);
    // It was a run worth checking.
    expect(ghost.slots.length).toBeGreaterThan(10);
    expect(kinds(history)).toMatchObject({ write: expect.any(Number), view: expect.any(Number) });
  });
});

function kinds(history: readonly Call[]): { readonly [kind: string]: number } {
  const counts: { [kind: string]: number } = {};
  for (const { kind } of history) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

describe('what is made wrong in a run is found', () => {
  const spoils: [string, (call: Call) => Call | null][] = [
    ['an acknowledgement that becomes a refusal', asRefusal],
    ['a version that is told wrong', withVersion],
    ['a read that is answered as an earlier one was', asStale],
    ['a conflict that becomes an acknowledgement', asTaken],
  ];
  test.each(spoils)('%s', async (_, spoil) => {
    const { history, ghost } = await smallRun(1, 25);
    let spoilt = 0;
    for (const [index, call] of history.entries()) {
      const wrong = spoil(call);
      if (wrong === null || spoilt >= 20) continue;
      spoilt += 1;
      expect(check(history.with(index, wrong), ghost)).not.toEqual([]);
    }
    expect(spoilt).toBeGreaterThan(5);
  });
});

function asRefusal(call: Call): Call | null {
  if (call.kind !== 'write' || call.outcome?.kind !== 'taken') return null;
  if (!call.outcome.taken.some(({ committed }) => committed)) return null;
  const told = { code: 'OVERLOADED', message: '', currentVersion: null };
  return { ...call, outcome: { kind: 'refused', ...told } };
}

function withVersion(call: Call): Call | null {
  if (call.kind !== 'write' || call.outcome?.kind !== 'taken') return null;
  const taken = call.outcome.taken.map((one) => ({ ...one, version: one.version + 1 }));
  return { ...call, outcome: { kind: 'taken', taken } };
}

function asTaken(call: Call): Call | null {
  if (call.kind !== 'write' || call.outcome?.kind !== 'refused') return null;
  const taken = call.mutations.map(({ path, archived }) => {
    return { path, version: 1, etag: 'x', archived, committed: true, sequence: 2 };
  });
  return { ...call, outcome: { kind: 'taken', taken } };
}

function asStale(call: Call): Call | null {
  const [first] = call.kind === 'view' ? call.reads : [];
  if (call.kind !== 'view' || first?.answer?.kind !== 'document') return null;
  const answer = { ...first.answer, version: first.answer.version - 1 };
  return { ...call, reads: [{ ...first, answer }] };
}
