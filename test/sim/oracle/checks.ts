/**
 * Everything that a run must have kept to, judged by what the bucket did and by what clients were
 * told. What the log alone can be judged by, the ghost log has told while it happened.
 */
import type { Call, Violation } from '../history.ts';
import { attemptsOf } from './attempts.ts';
import { checkCost } from './check-cost.ts';
import { checkEntries } from './check-entries.ts';
import { checkGroups } from './check-groups.ts';
import { checkAcknowledged, checkOperation, checkOutcome } from './check-outcomes.ts';
import { checkGroupRefusal } from './check-refusals.ts';
import { checkSessions } from './check-sessions.ts';
import { Acknowledged, checkView } from './check-views.ts';
import { documentHistories } from './document-histories.ts';
import { documentModel } from './document-model.ts';
import type { GhostState } from './ghost-document.ts';
import type { GhostLog } from './ghost-log.ts';
import { checkLinearizable } from './linearizable.ts';

/**
 * Judges a whole history. Violations that the ghost log told itself are not among the answers.
 */
export function check(history: readonly Call[], ghost: GhostLog): Violation[] {
  const attempts = attemptsOf(history);
  const acknowledged = new Acknowledged(history);
  const found: Violation[] = [];
  for (const call of history) {
    if (call.kind === 'write') {
      found.push(...checkOutcome(call, ghost, attempts));
      found.push(...checkGroupRefusal(call, ghost, attempts.get(call.op) ?? [call]));
    } else if (call.kind === 'operation') {
      found.push(...checkOperation(call, ghost, attempts));
    } else {
      found.push(...checkView(call, ghost, acknowledged));
    }
  }
  found.push(...checkGroups(ghost, attempts));
  found.push(...checkEntries(ghost, attempts), ...checkCost(ghost, attempts));
  found.push(...checkSessions(history, ghost));
  return [...found, ...checkHistories(history, ghost)];
}

/**
 * Judges an answer at the moment it is given: so a store that acknowledges what is not yet in the
 * log is caught even if it comes to be there.
 */
export function atAnswer(call: Call, ghost: GhostLog, now: number): Violation[] {
  if (call.kind === 'write' && call.outcome?.kind === 'taken') {
    return checkAcknowledged(call, call.outcome.taken, ghost, now);
  }
  if (call.kind === 'write' && call.outcome?.kind === 'unclear') {
    return [{ rule: 'outcome', detail: `operation ${call.op}: ${call.outcome.message}` }];
  }
  if (call.kind === 'operation' && call.answer?.kind === 'committed') {
    return checkAcknowledged(call, call.answer.taken, ghost, now);
  }
  return [];
}

/** Every document as the log leaves it: what each store must serve in the end (I3). */
export function endState(ghost: GhostLog): Map<string, Omit<GhostState, 'first'>> {
  const found = new Map<string, Omit<GhostState, 'first'>>();
  for (const [path, { state }] of ghost.world?.documents ?? []) {
    if (state === undefined) continue;
    const { version, etag, archived } = state;
    found.set(path, { version, etag, archived });
  }
  return found;
}

function checkHistories(history: readonly Call[], ghost: GhostLog): Violation[] {
  if (ghost.world === null) return [];
  const found: Violation[] = [];
  for (const [path, calls] of documentHistories(history, ghost.world)) {
    const verdict = checkLinearizable(documentModel(), calls);
    if (verdict === 'not linearizable') {
      found.push({ rule: 'linearizable', detail: `${path}: no order explains its calls` });
    }
    if (verdict === 'gave up') {
      found.push({ rule: 'oracle', detail: `${path}: gave up on ${calls.length} calls` });
    }
  }
  return found;
}
