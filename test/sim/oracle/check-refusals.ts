/**
 * Refused groups: which of its mutations was refused is not told, so one of them must have been to
 * be refused, in a state that the answer can be of.
 */
import type { CalledMutation, Violation, WriteCall } from '../history.ts';
import { windowOf } from './check-outcomes.ts';
import { meets } from './effects.ts';
import type { GhostState } from './ghost-document.ts';
import type { GhostLog } from './ghost-log.ts';

const CODES: ReadonlySet<string> = new Set(['NOT_FOUND', 'CONFLICT', 'ARCHIVED']);

export function checkGroupRefusal(
  call: WriteCall,
  ghost: GhostLog,
  attempts: readonly WriteCall[],
): Violation[] {
  const { outcome, mutations, op } = call;
  if (outcome?.kind !== 'refused' || mutations.length < 2 || !CODES.has(outcome.code)) return [];
  // A mutation is judged on what those before it in its group make: told apart only by path.
  const paths = new Set(mutations.map(({ path }) => path));
  if (paths.size < mutations.length) return [];
  const range = windowOf(call, ghost, attempts);
  const right = mutations.some((mutation) => {
    const states = ghost.world?.documents.get(mutation.path)?.states;
    const holds = (state: GhostState | undefined) => isRefused(mutation, state, outcome);
    return states === undefined ? holds(undefined) : states.where(holds, range).length > 0;
  });
  if (right) return [];
  return [{ rule: 'outcome', detail: `operation ${op}: no state refuses it with ${outcome.code}` }];
}

function isRefused(
  { kind, expected }: CalledMutation,
  state: GhostState | undefined,
  told: { readonly code: string; readonly currentVersion: number | null },
): boolean {
  if (state === undefined && kind !== 'publish') return told.code === 'NOT_FOUND';
  const version = state?.version ?? 0;
  if (!meets(expected, state)) {
    const current = told.currentVersion ?? version;
    return told.code === 'CONFLICT' && current === version;
  }
  return told.code === 'ARCHIVED' && kind !== 'archive' && state?.archived === true;
}
