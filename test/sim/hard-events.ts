/**
 * The events that a simulation must have met before it says anything: each is a way in which a
 * store has gone wrong somewhere.
 */
import type { Coverage } from './coverage.ts';

const WAITS = [
  'create slot',
  'create blob',
  'get slot',
  'get marker',
  'get checkpoint',
  'head',
  'list log',
  'list checkpoints',
] as const;

/** Names of counters. */
const HARD_EVENTS: readonly string[] = [
  'lost slot',
  'ambiguous create: stored',
  'ambiguous create: not stored',
  'ambiguous create: lands late',
  'ambiguous create: name was taken',
  '409',
  '429',
  '503',
  'late landing',
  'kept member',
  'rebuilt member',
  'group kept',
  'group refused',
  'group with an unchanged part',
  'reborn name',
  'stale store',
  'clock jump',
  'hidden pause',
  'pause',
  'crash at sleep',
  ...WAITS.flatMap((wait) => [`crash at ${wait} request`, `crash at ${wait} answer`]),
];

/** Those that happened less often than `least`, each with its count. */
export function rareEvents(coverage: Coverage, least: number): readonly string[] {
  const rare = HARD_EVENTS.filter((name) => coverage.get(name) < least);
  return rare.map((name) => `${name}: ${coverage.get(name)} of ${least}`);
}
