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

/** The entries of an operation: its group, from its first on. Empty when it is not in the log. */
export function entriesOf(world: GhostWorld, op: string): GhostEntry[] {
  const head = world.operations.get(op);
  if (head === undefined) return [];
  const entries: GhostEntry[] = [];
  for (let index = 0; index < head.group; index++) {
    const entry = world.entries.get(head.sequence + index);
    if (entry === undefined || entry.slot !== head.slot) break;
    entries.push(entry);
  }
  return entries;
}

/** Pairs what stands in a list, in order, with the mutations it is of; null: of none. */
export function pair<T extends { readonly path: string }>(
  mutations: readonly CalledMutation[],
  items: readonly T[],
): { readonly mutation: CalledMutation | null; readonly item: T }[] {
  let next = 0;
  // A first answer has an item for each mutation; one read back from the log, of committed ones.
  const whole = items.length === mutations.length;
  return items.map((item, index) => {
    if (whole) next = index;
    while (next < mutations.length && mutations[next]?.path !== item.path) next++;
    const mutation = mutations[next] ?? null;
    next++;
    return { mutation, item };
  });
}

/** What was told to be committed. */
export function committedOf(taken: readonly TakenMutation[]): TakenMutation[] {
  return taken.filter(({ committed }) => committed);
}
