/**
 * Within one process: it sees its own commits at once, and is never rolled back to an older state
 * than it has shown before.
 */
import type { Call, Violation } from '../history.ts';
import { committedOf } from './attempts.ts';
import { statesOfView } from './check-views.ts';
import type { GhostLog } from './ghost-log.ts';

/** What a process is known to have reached at a time: a commit of its own, or a state it showed. */
interface Reached {
  readonly at: number;
  readonly sequence: number;
}

export function checkSessions(history: readonly Call[], ghost: GhostLog): Violation[] {
  const reached = new Map<string, Reached[]>();
  const note = (process: string, at: number, sequence: number): void => {
    const known = reached.get(process);
    if (known === undefined) reached.set(process, [{ at, sequence }]);
    else known.push({ at, sequence });
  };
  for (const call of history) {
    if (call.kind === 'write' && call.outcome?.kind === 'taken' && call.returned !== null) {
      const sequences = committedOf(call.outcome.taken).map(({ sequence }) => sequence ?? 0);
      if (sequences.length > 0) note(call.process, call.returned, Math.max(...sequences));
    } else if (call.kind === 'view') {
      const [first] = statesOfView(call, ghost).states;
      const ends = call.reads.map(({ returned }) => returned ?? Number.POSITIVE_INFINITY);
      if (first !== undefined && ends.length > 0) {
        note(call.process, Math.max(...ends), first.from);
      }
    }
  }
  return history.flatMap((call) => rolledBack(call, ghost, reached));
}

function rolledBack(
  call: Call,
  ghost: GhostLog,
  reached: ReadonlyMap<string, readonly Reached[]>,
): Violation[] {
  if (call.kind !== 'view') return [];
  const [read] = call.reads;
  const newest = statesOfView(call, ghost).states.at(-1);
  if (read === undefined || newest === undefined) return [];
  for (const { at, sequence } of reached.get(call.process) ?? []) {
    if (at >= read.called || sequence <= newest.to) continue;
    const words = `${call.process}: ${read.what} ${read.path} at ${read.called}`;
    return [
      { rule: 'session', detail: `${words} is of ${newest.to}, after ${sequence} was shown` },
    ];
  }
  return [];
}
