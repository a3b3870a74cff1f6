/**
 * Answers to writes against the log (I6): what was acknowledged is there, once and as told; what
 * was refused is not, and never comes; an *unknown* names the place where it would be.
 */
import type { OperationCall, TakenMutation, Violation, WriteCall } from '../history.ts';
import {
  type Attempts,
  committedOf,
  groupOf,
  headsOf,
  mayCommit,
  observedFrom,
} from './attempts.ts';
import type { GhostEntry } from './ghost-document.ts';
import type { GhostLog } from './ghost-log.ts';
import type { GhostWorld } from './ghost-state.ts';

/** What is wrong with an answer at the moment it is given. */
export function checkAcknowledged(
  call: { readonly op: string },
  taken: readonly TakenMutation[],
  ghost: GhostLog,
  now: number,
): Violation[] {
  const { world } = ghost;
  const told = committedOf(taken);
  if (told.length === 0 || world === null) return [];
  const wrong = (rule: string, detail: string): Violation[] => [
    { rule, detail: `operation ${call.op}: ${detail}` },
  ];
  const heads = headsOf(world, call.op);
  const first = heads.find(({ sequence }) => sequence === told[0]?.sequence) ?? heads[0];
  if (first === undefined) return wrong('exactly once', 'acknowledged, and not in the log');
  const landedAt = ghost.landedAt(first.sequence) ?? Number.POSITIVE_INFINITY;
  if (landedAt > now) return wrong('I6', `acknowledged at ${now}, landed at ${landedAt}`);
  const entries = groupOf(world, first);
  if (entries.length !== told.length) {
    return wrong('exactly once', `${told.length} were told, ${entries.length} are in the log`);
  }
  return told.flatMap((one, index) => {
    const entry = entries[index];
    const right =
      entry !== undefined &&
      entry.path === one.path &&
      entry.sequence === one.sequence &&
      entry.version === one.version &&
      entry.etag === one.etag &&
      entry.archived === one.archived;
    return right ? [] : wrong('exactly once', `was told ${text(one)}, the log has ${text(entry)}`);
  });
}

/** All that is to be said of a write call once the log is known. */
export function checkOutcome(call: WriteCall, ghost: GhostLog, calls: Attempts): Violation[] {
  const { outcome, returned } = call;
  const { world } = ghost;
  if (outcome === null || returned === null || world === null) return [];
  const attempts = calls.get(call.op) ?? [call];
  switch (outcome.kind) {
    case 'taken':
      return [
        ...checkAcknowledged(call, outcome.taken, ghost, returned),
        ...checkUnchanged(call, outcome.taken, ghost, attempts),
      ];
    case 'refused':
      return checkRefused(call, ghost, world, attempts);
    case 'unknown':
      return checkUnknown(call, outcome.after, ghost, attempts);
    case 'too old':
      if (isAnswerGone(world, call.op, ghost.tipAt(returned))) return [];
      return [{ rule: 'outcome', detail: `operation ${call.op}: too old, and can be answered` }];
    case 'unclear':
      return [{ rule: 'outcome', detail: `operation ${call.op}: ${outcome.message}` }];
    default:
      return outcome satisfies never;
  }
}

/** What was told to be nothing to commit is not in the log. */
function checkUnchanged(
  { op }: WriteCall,
  taken: readonly TakenMutation[],
  { world }: GhostLog,
  attempts: readonly WriteCall[],
): Violation[] {
  const nothing = taken.length > 0 && committedOf(taken).length === 0;
  if (!nothing || attempts.length > 1 || world?.operations.has(op) !== true) return [];
  return [{ rule: 'exactly once', detail: `operation ${op}: told unchanged, and is in the log` }];
}

/** A refused request is in the log only if another attempt brought it there. */
function checkRefused(
  call: WriteCall,
  ghost: GhostLog,
  world: GhostWorld,
  attempts: readonly WriteCall[],
): Violation[] {
  const entry = headsOf(world, call.op).find(({ sequence }) => {
    const landedAt = ghost.landedAt(sequence) ?? 0;
    return !attempts.some((one) => one !== call && mayCommit(one) && one.called <= landedAt);
  });
  if (entry === undefined) return [];
  const detail = `operation ${call.op}: refused, and in the log at ${entry.sequence}`;
  return [{ rule: 'I6', detail }];
}

/** `after` is the end of a slot, and the operation is in the slot behind it or in none. */
function checkUnknown(
  call: WriteCall,
  after: number,
  ghost: GhostLog,
  attempts: readonly WriteCall[],
): Violation[] {
  const wrong = (detail: string): Violation[] => [
    { rule: 'unknown', detail: `operation ${call.op}, unknown after ${after}: ${detail}` },
  ];
  const ends = after === ghost.tip || ghost.slotFrom(after + 1) !== undefined;
  if (!ends) return wrong('no slot ends there');
  const heads = ghost.world?.operations.get(call.op) ?? [];
  const places = attempts.map(({ outcome }) => {
    return outcome?.kind === 'unknown' ? outcome.after + 1 : null;
  });
  const open = attempts.some((one, index) => places[index] === null && mayCommit(one));
  const elsewhere = heads.find(({ slot }) => !places.includes(slot));
  return open || elsewhere === undefined ? [] : wrong(`it is in slot ${elsewhere.slot}`);
}

/** What was said of an *unknown* that was asked for. */
export function checkOperation(call: OperationCall, ghost: GhostLog, calls: Attempts): Violation[] {
  const { op, after, called, returned, answer } = call;
  const { world } = ghost;
  if (answer === null || returned === null || world === null) return [];
  const wrong = (detail: string): Violation[] => [
    { rule: 'unknown', detail: `operation(${op}, ${after}) said ${answer.kind}: ${detail}` },
  ];
  switch (answer.kind) {
    case 'committed':
      return checkAcknowledged(call, answer.taken, ghost, returned);
    case 'not committed': {
      const entry = headsOf(world, op).find(({ sequence, slot }) => {
        const landedAt = ghost.landedAt(sequence) ?? 0;
        const other = (calls.get(op) ?? []).some((one) => {
          const same = one.outcome?.kind === 'unknown' && one.outcome.after === after;
          return mayCommit(one) && !same && one.called <= landedAt;
        });
        const gone = sequence < (world.floors.at(ghost.tipAt(returned)) ?? 0);
        return slot === after + 1 || !other || (landedAt <= called && !gone);
      });
      return entry === undefined ? [] : wrong(`it is in the log at ${entry.sequence}`);
    }
    case 'too old': {
      const tip = ghost.tipAt(returned);
      const floor = world.floors.at(tip) ?? 0;
      if (after + 1 < floor || isAnswerGone(world, op, tip)) return [];
      return wrong(`the floor is ${floor}`);
    }
    case 'open': {
      const tip = ghost.tipAt(called, false);
      return tip <= after ? [] : wrong(`the tip was ${tip}`);
    }
    case 'failed':
      return [];
    default:
      return answer satisfies never;
  }
}

/**
 * Whether the first answer of an operation that is in the log can be read back no more: its slot is
 * below the floor, or a version that it archived is retained no more.
 */
function isAnswerGone(world: GhostWorld, op: string, tip: number): boolean {
  const floor = world.floors.at(tip) ?? 0;
  return headsOf(world, op).some((head) => {
    return (
      head.slot < floor || groupOf(world, head).some((entry) => isArchiveGone(world, entry, tip))
    );
  });
}

function isArchiveGone(world: GhostWorld, entry: GhostEntry, tip: number): boolean {
  const first = world.documents.get(entry.path)?.states.at(tip)?.first ?? 0;
  return entry.kind === 'archive' && entry.version < first;
}

/** The sequences whose states an answer can have been judged on. */
export function windowOf(
  call: WriteCall,
  ghost: GhostLog,
  attempts: readonly WriteCall[],
): { readonly from: number; readonly to: number } {
  const from = ghost.tipAt(observedFrom(call, attempts), false);
  return { from, to: ghost.tipAt(call.returned ?? Number.POSITIVE_INFINITY) };
}

function text(one: object | undefined): string {
  return JSON.stringify(one ?? null);
}
