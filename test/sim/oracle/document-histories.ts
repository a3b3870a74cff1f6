/**
 * Histories of single documents, to be checked one by one: what a history of all is linearizable if
 * they are. A group is taken apart; that it commits as a whole is checked on the log.
 */
import type { Call, CalledMutation, TakenMutation, ViewCall, WriteCall } from '../history.ts';
import { askedEntries, attemptsOf, headsOf, mayCommit, observedFrom } from './attempts.ts';
import { type DocumentCall, type Observed, TELLING_CODES } from './document-model.ts';
import type { GhostWorld } from './ghost-state.ts';

/**
 * Calls by path. Whether an operation that nobody was told of is in the log is looked up there: so
 * it took effect with that version, or never.
 */
export function documentHistories(
  history: readonly Call[],
  world: GhostWorld,
): Map<string, DocumentCall[]> {
  const found = new Map<string, DocumentCall[]>();
  const add = (path: string, call: DocumentCall): void => {
    const calls = found.get(path);
    if (calls === undefined) found.set(path, [call]);
    else calls.push(call);
  };
  for (const [op, attempts] of attemptsOf(history)) {
    addEffect(world, op, attempts, add);
    for (const attempt of attempts) addObservations(attempt, attempts, add);
  }
  for (const call of history) if (call.kind === 'view') addRead(call, add);
  return found;
}

type Add = (path: string, call: DocumentCall) => void;

/** The effect of an operation: once for each time that it is in the log. */
function addEffect(world: GhostWorld, op: string, attempts: readonly WriteCall[], add: Add): void {
  const [first] = attempts.filter(mayCommit);
  if (first === undefined) return;
  const told = new Map<number | null, { readonly one: TakenMutation; readonly returned: number }>();
  for (const { outcome, returned } of attempts) {
    if (outcome?.kind !== 'taken' || returned === null) continue;
    for (const one of outcome.taken) {
      if (!one.committed || (told.get(one.sequence)?.returned ?? returned) < returned) continue;
      told.set(one.sequence, { one, returned });
    }
  }
  // What was told and is not in the log is told of elsewhere.
  for (const head of headsOf(world, op)) {
    for (const { mutation, entry } of askedEntries(world, head, attempts)) {
      if (mutation === null) continue;
      const { one, returned } = told.get(entry.sequence) ?? { one: entry, returned: null };
      add(
        entry.path,
        asked(mutation, first.called, returned, { ...observed(one), committed: true }),
      );
    }
  }
}

/** What answers tell of a state without changing it. */
function addObservations(call: WriteCall, attempts: readonly WriteCall[], add: Add): void {
  const { outcome, mutations, returned } = call;
  if (outcome === null || returned === null) return;
  const called = observedFrom(call, attempts);
  if (outcome.kind === 'taken') {
    // An answer that was read back from the log tells of what was committed only.
    for (const [index, one] of outcome.taken.entries()) {
      const mutation = mutations[index];
      if (one.committed || mutation === undefined) continue;
      add(one.path, asked(mutation, called, returned, { ...observed(one), committed: false }));
    }
    return;
  }
  const [mutation] = mutations;
  // Which mutation of a group was refused is not told.
  if (outcome.kind !== 'refused' || mutation === undefined || mutations.length > 1) return;
  if (!TELLING_CODES.has(outcome.code)) return;
  const { code, currentVersion } = outcome;
  const refused = { kind: 'refused' as const, code, currentVersion };
  add(mutation.path, { ...mutation, called, returned, outcome: refused });
}

/** The first read of a view is exact when it is of a path. */
function addRead({ reads: [read] }: ViewCall, add: Add): void {
  if (read?.what !== 'get' || read.returned === null || read.answer === null) return;
  const { path, called, returned, answer } = read;
  if (answer.kind === 'absent') add(path, { kind: 'get', called, returned, answer: null });
  if (answer.kind === 'document') add(path, { kind: 'get', called, returned, answer });
}

function asked(
  mutation: CalledMutation,
  called: number,
  returned: number | null,
  told: Observed & Pick<TakenMutation, 'committed'>,
): DocumentCall {
  return { ...mutation, called, returned, outcome: { kind: 'taken', ...told } };
}

function observed({ version, etag, archived }: Observed): Observed {
  return { version, etag, archived };
}
