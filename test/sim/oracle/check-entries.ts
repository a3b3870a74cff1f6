/**
 * Entries of the log against the calls that asked for them: nothing is there that nobody asked for,
 * and each is what was asked, on a state that met its conditions.
 */
import type { CalledMutation, Violation, WriteCall } from '../history.ts';
import { type Attempts, askedEntries, headsOf } from './attempts.ts';
import { differenceOf, meets } from './effects.ts';
import type { GhostEntry } from './ghost-document.ts';
import type { GhostLog } from './ghost-log.ts';
import type { GhostWorld } from './ghost-state.ts';

export function checkEntries(ghost: GhostLog, calls: Attempts): Violation[] {
  const { world } = ghost;
  if (world === null) return [];
  const found: Violation[] = [...checkOrder(world, calls)];
  const asked = new Set<number>();
  for (const [op, attempts] of calls) {
    const [head] = headsOf(world, op);
    const landedAt = head === undefined ? undefined : ghost.landedAt(head.sequence);
    if ((landedAt ?? Number.POSITIVE_INFINITY) < (attempts[0]?.called ?? 0)) {
      found.push({ rule: 'exactly once', detail: `operation ${op} landed before it was called` });
    }
    const entries = headsOf(world, op).flatMap((one) => askedEntries(world, one, attempts));
    for (const { mutation, entry } of entries) {
      asked.add(entry.sequence);
      const problem =
        mutation === null ? 'was not asked for' : differenceOf(world, mutation, entry);
      if (problem !== null) found.push({ rule: 'content', detail: `${where(entry)}: ${problem}` });
      if (mutation !== null) found.push(...checkConditions(world, mutation, entry));
    }
  }
  for (const entry of world.entries.values()) {
    if (asked.has(entry.sequence)) continue;
    found.push({ rule: 'exactly once', detail: `${where(entry)}: nobody asked for it` });
  }
  return found;
}

/** Requests of one store that share a slot stand in it in the order of their calls (I5). */
function checkOrder(world: GhostWorld, calls: Attempts): Violation[] {
  const found: Violation[] = [];
  let slotBefore = 0;
  let before: WriteCall | undefined;
  for (const { slot, op, sequence } of world.entries.values()) {
    const [call, ...more] = calls.get(op) ?? [];
    // A request that was sent again has the place of one of its attempts.
    if (call === undefined || more.length > 0) continue;
    const shared = slotBefore === slot && before?.process === call.process;
    if (shared && call.called < (before?.called ?? 0)) {
      found.push({ rule: 'I5', detail: `entry ${sequence} of operation ${op} was overtaken` });
    }
    slotBefore = slot;
    before = call;
  }
  return found;
}

/** The expectation, and what another document had to be, just before the entry. */
function checkConditions(
  world: GhostWorld,
  { expected, requires }: CalledMutation,
  entry: GhostEntry,
): Violation[] {
  const found: Violation[] = [];
  const state = (path: string) => world.documents.get(path)?.states.at(entry.sequence - 1);
  const before = state(entry.path);
  if (!meets(expected, before)) {
    const was = before?.version ?? 0;
    const detail = `${where(entry)}: expected ${JSON.stringify(expected)}, it was at ${was}`;
    found.push({ rule: 'expected', detail });
  }
  if (requires !== null && (state(requires.path)?.version ?? 0) !== requires.version) {
    const was = state(requires.path)?.version ?? 0;
    const detail = `${where(entry)}: ${requires.path} was at ${was}, not ${requires.version}`;
    found.push({ rule: 'precondition', detail });
  }
  return found;
}

function where({ sequence, op, path }: GhostEntry): string {
  return `entry ${sequence} of operation ${op}, ${path}`;
}
