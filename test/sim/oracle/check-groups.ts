/**
 * Requests commit as a whole: of what one asked for, the log lacks only what changed nothing when
 * its turn came, and has the rest in order and without a gap; and its answer tells of each part
 * what became of it.
 *
 * This needs no search: the state before a group and its mutations in order say which of them have
 * an entry. What was to be refused has none, so a group without it was split.
 */
import type { CalledMutation, TakenMutation, Violation, WriteCall } from '../history.ts';
import { type Attempts, committedOf, groupOf, headsOf } from './attempts.ts';
import type { Interval } from './changes.ts';
import { windowOf } from './check-outcomes.ts';
import { changesNothing, differenceOf } from './effects.ts';
import type { GhostEntry, GhostState } from './ghost-document.ts';
import type { GhostLog } from './ghost-log.ts';
import type { GhostWorld } from './ghost-state.ts';

/** What became of one mutation of a request that is in the log. */
interface Part {
  /** null: it changed nothing. */
  readonly entry: GhostEntry | null;
  /** Its document behind it. */
  readonly state: GhostState | undefined;
}

export function checkGroups(ghost: GhostLog, calls: Attempts): Violation[] {
  const { world } = ghost;
  if (world === null) return [];
  const found: Violation[] = [];
  for (const [op, attempts] of calls) {
    const groups: (readonly Part[])[] = [];
    for (const head of headsOf(world, op)) {
      const parts = partsOf(world, head, attempts[0]?.mutations ?? []);
      if (typeof parts !== 'string') groups.push(parts);
      else found.push({ rule: 'group', detail: `operation ${op}, ${head.sequence}: ${parts}` });
    }
    for (const attempt of attempts) found.push(...checkAnswer(attempt, attempts, groups, ghost));
  }
  return found;
}

/** Each mutation of a request with its entry, or in words why the log does not have it whole. */
function partsOf(
  world: GhostWorld,
  head: GhostEntry,
  mutations: readonly CalledMutation[],
): readonly Part[] | string {
  const entries = groupOf(world, head);
  if (entries.length < head.group) return `${entries.length} of ${head.group} are in its slot`;
  const parts: Part[] = [];
  let taken = 0;
  for (const mutation of mutations) {
    const { kind, path } = mutation;
    const states = world.documents.get(path)?.states;
    const before = states?.at(head.sequence + taken - 1);
    if (changesNothing(world, mutation, before)) {
      parts.push({ entry: null, state: before });
      continue;
    }
    const entry = entries[taken++];
    const right = entry?.path === path && differenceOf(world, mutation, entry) === null;
    if (!right) return `${kind} ${path} was to change something, and is not entry ${taken} of it`;
    parts.push({ entry, state: states?.at(entry.sequence) });
  }
  const more = entries.length - taken;
  return more === 0 ? parts : `${more} entries of it are of nothing that was to change`;
}

/** An answer tells of all that was asked for, or, read back from the log, of what is there. */
function checkAnswer(
  call: WriteCall,
  attempts: readonly WriteCall[],
  groups: readonly (readonly Part[])[],
  ghost: GhostLog,
): Violation[] {
  const { op, outcome, mutations } = call;
  if (outcome?.kind !== 'taken') return [];
  const { taken } = outcome;
  const wrong = (rule: string, detail: string): Violation[] => [
    { rule, detail: `operation ${op}: ${detail}` },
  ];
  const told = committedOf(taken);
  if (taken.length !== mutations.length) {
    const repeats = told.length === taken.length && attempts.some((one) => isBefore(one, call));
    const detail = `told ${taken.length} results of ${mutations.length} mutations`;
    return repeats ? [] : wrong('group', detail);
  }
  if (told.length === 0) {
    const right = wereUnchanged(call, taken, ghost, attempts);
    return right ? [] : wrong('outcome', 'told unchanged, which at no time all of it was');
  }
  const isTold = ({ entry }: Part) => entry !== null && entry.sequence === told[0]?.sequence;
  // What was told and is not in the log is told of elsewhere.
  const parts = groups.find((group) => group.some(isTold)) ?? [];
  return parts.flatMap((part, index) => {
    const one = taken[index];
    const path = mutations[index]?.path;
    const right = one !== undefined && one.path === path && isOfPart(one, part);
    return right ? [] : wrong('outcome', `was told ${JSON.stringify(one)} of ${path}`);
  });
}

/**
 * Whether an attempt may be the one that committed what another found in the log. That is told of
 * all that it asked for, if it is told anything.
 */
function isBefore(one: WriteCall, other: WriteCall): boolean {
  const { called, outcome, mutations } = one;
  if (one === other || called > (other.returned ?? Number.POSITIVE_INFINITY)) return false;
  if (outcome?.kind === 'taken') return outcome.taken.length === mutations.length;
  return outcome?.kind !== 'refused';
}

/** Whether all mutations had nothing to commit in one state that the answer can be of. */
function wereUnchanged(
  call: WriteCall,
  taken: readonly TakenMutation[],
  ghost: GhostLog,
  attempts: readonly WriteCall[],
): boolean {
  const { world } = ghost;
  if (world === null) return false;
  let ranges: readonly Interval[] = [windowOf(call, ghost, attempts)];
  for (const [index, mutation] of call.mutations.entries()) {
    const one = taken[index];
    if (one === undefined || one.path !== mutation.path) return false;
    const holds = (state: GhostState | undefined): boolean => {
      return isState(one, state) && changesNothing(world, mutation, state);
    };
    const states = world.documents.get(mutation.path)?.states;
    ranges = ranges.flatMap((range) => states?.where(holds, range) ?? []);
  }
  return ranges.length > 0;
}

function isOfPart(one: TakenMutation, { entry, state }: Part): boolean {
  if (entry !== null) return one.committed && one.sequence === entry.sequence;
  return !one.committed && isState(one, state);
}

function isState(one: TakenMutation, state: GhostState | undefined): boolean {
  const { version, etag, archived } = state ?? {};
  return version === one.version && etag === one.etag && archived === one.archived;
}
