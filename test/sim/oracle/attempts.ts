/** The calls of one operation: a request sent again with its ID is still the same operation. */
import type { Call, CalledMutation, TakenMutation, WriteCall } from '../history.ts';
import type { GhostEntry } from './ghost-document.ts';
import type { GhostWorld } from './ghost-state.ts';

export type Attempts = ReadonlyMap<string, readonly WriteCall[]>;

/** Write calls by operation, in the order of calling. */
export function attemptsOf(history: readonly Call[]): Attempts {
  const found = new Map<string, WriteCall[]>();
  for (const call of history) {
    if (call.kind !== 'write') continue;
    const attempts = found.get(call.op);
    if (attempts === undefined) found.set(call.op, [call]);
    else attempts.push(call);
  }
  for (const attempts of found.values()) attempts.sort((a, b) => a.called - b.called);
  return found;
}

/** Whether an attempt can have committed, now or later: anything but a refusal can. */
export function mayCommit({ outcome }: WriteCall): boolean {
  return outcome?.kind !== 'refused';
}

/**
 * From when on an answer may speak of the state: its own call, or that of an attempt with the same
 * ID that waited at the time, whose answer it may share.
 */
export function observedFrom(call: WriteCall, attempts: readonly WriteCall[]): number {
  let from = call.called;
  for (const { called, returned } of attempts) {
    if (called < from && (returned === null || returned >= call.called)) from = called;
  }
  return from;
}

/** The first entries of an operation: one for each time that it is in the log. */
export function headsOf(world: GhostWorld, op: string): readonly GhostEntry[] {
  return world.operations.get(op) ?? [];
}

/** The entries that commit together with a first one: its group. */
export function groupOf(world: GhostWorld, head: GhostEntry): GhostEntry[] {
  const entries: GhostEntry[] = [];
  for (let index = 0; index < head.group; index++) {
    const entry = world.entries.get(head.sequence + index);
    if (entry === undefined || entry.slot !== head.slot) break;
    entries.push(entry);
  }
  return entries;
}

/** An entry and the mutation that it is of; null: nobody asked for it. */
export interface Asked {
  readonly mutation: CalledMutation | null;
  readonly entry: GhostEntry;
}

/**
 * The entries of an operation with their mutations. A mutation that changed nothing has no entry:
 * an answer that tells of all of them says which; without one, the entries are looked at.
 */
export function askedEntries(
  world: GhostWorld,
  head: GhostEntry,
  attempts: readonly WriteCall[],
): Asked[] {
  const mutations = attempts[0]?.mutations ?? [];
  const entries = groupOf(world, head);
  let left = committedMutations(attempts, entries.length) ?? mutations;
  return entries.map((entry) => {
    const exact = left.findIndex((mutation) => isOf(world, mutation, entry));
    const index = exact >= 0 ? exact : left.findIndex(({ path }) => path === entry.path);
    const mutation = left[index] ?? null;
    left = left.slice(index + 1);
    return { mutation, entry };
  });
}

/** The mutations that a whole answer tells to be committed; null when there is no such answer. */
function committedMutations(
  attempts: readonly WriteCall[],
  count: number,
): readonly CalledMutation[] | null {
  for (const { outcome, mutations } of attempts) {
    if (outcome?.kind !== 'taken' || outcome.taken.length !== mutations.length) continue;
    const committed = mutations.filter((_, index) => outcome.taken[index]?.committed === true);
    if (committed.length === count) return committed;
  }
  return null;
}

function isOf(world: GhostWorld, mutation: CalledMutation, entry: GhostEntry): boolean {
  const { kind, path, archived, body } = mutation;
  if (path !== entry.path) return false;
  if (kind === 'archive') return entry.kind === 'archive' && entry.archived === archived;
  if (entry.verb !== kind) return false;
  const written = world.documents.get(path)?.versions.get(entry.version)?.body;
  const text = written === undefined ? '' : Buffer.from(written).toString();
  return kind === 'append' ? text.endsWith(body) : text === body;
}

/** What was told to be committed. */
export function committedOf(taken: readonly TakenMutation[]): TakenMutation[] {
  return taken.filter(({ committed }) => committed);
}
