/**
 * The events that a simulation must have met before it says anything: each is a way in which a
 * store has gone wrong somewhere.
 */
import type { Coverage } from './coverage.ts';

/** Waits of a store that serves, or opens. */
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

/** Waits of a compactor, for each kind of object that it creates. */
const COMPACTOR_WAITS = [
  'create segment',
  'create records',
  'create history',
  'create run',
  'create pack',
  'create root',
  'create checkpoint',
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
  'stale store',
  'clock jump',
  'hidden pause',
  'pause',
  'crash at sleep',
  ...atBothStages(WAITS),
  'checkpoint',
  'background checkpoint',
  'rests on its own checkpoint',
  'rests on another’s checkpoint',
  'opens from a checkpoint',
  'read from a pack, with slots gone',
];

/** A name that was freed is created again by a store that slept. */
const REBORN = 'reborn name';

/** Those that only a part of the plans is made for. */
const RARE_EVENTS: readonly string[] = [
  'record lost to a rival',
  'bad checkpoint passed over',
  'control: barrier',
];

/** How often all seeds of `npm test` together meet each, at least. */
const HARD_MIN = 80;
const REBORN_MIN = 40;
const RARE_MIN = 8;

function atBothStages(waits: readonly string[]): readonly string[] {
  return waits.flatMap((wait) => [`crash at ${wait} request`, `crash at ${wait} answer`]);
}

/**
 * Those that happened less often than they must in one of so many equal shares of the seeds, each
 * with its count.
 */
export function rareEvents(coverage: Coverage, shares: number): readonly string[] {
  const demands = [
    ...HARD_EVENTS.map((name) => [name, HARD_MIN] as const),
    [REBORN, REBORN_MIN] as const,
    ...RARE_EVENTS.map((name) => [name, RARE_MIN] as const),
  ];
  const few = demands.flatMap(([name, min]) => {
    const least = Math.ceil(min / shares);
    const count = coverage.get(name);
    return count < least ? [`${name}: ${count} of ${least}`] : [];
  });
  // Crashes of a compactor are so few that both sides of a request are counted together.
  const crashes = COMPACTOR_WAITS.flatMap((wait) => {
    const least = Math.ceil(RARE_MIN / shares);
    const stages = atBothStages([wait]);
    const count = stages.reduce((sum, name) => sum + coverage.get(name), 0);
    return count < least ? [`crash at ${wait}: ${count} of ${least}`] : [];
  });
  return [...few, ...crashes];
}
