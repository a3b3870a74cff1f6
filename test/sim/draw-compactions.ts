/**
 * Draws compactions, several stores at one moment now and then, and what goes wrong with them: they
 * die or fall asleep at any of their waits, and what they made is damaged.
 */
import type { Burst } from './draw-plan.ts';
import { momentNear, OPENING_AIMS } from './draw-trouble.ts';
import type { PlanEvent } from './plan.ts';
import type { SimRandom } from './random.ts';
import type { WaitKind } from './wait.ts';

/** Waits of a compactor, the ones more often that not every compaction has, or only once. */
const AIMS: readonly WaitKind[] = [
  'create segment request',
  'create segment answer',
  'create records request',
  'create records answer',
  'create history request',
  'create history request',
  'create history answer',
  'create history answer',
  'create run request',
  'create run answer',
  'create pack request',
  'create pack request',
  'create pack answer',
  'create pack answer',
  'create root request',
  'create root request',
  'create root answer',
  'create root answer',
  'create checkpoint request',
  'create checkpoint answer',
  'get root answer',
  'get run answer',
  'get segment request',
];

export function drawCompactions(
  random: SimRandom,
  stores: number,
  bursts: readonly Burst[],
): readonly PlanEvent[] {
  const events: PlanEvent[] = [];
  for (let left = random.integer(4); left > 0; left--) {
    const at = momentNear(random, bursts);
    const racing = random.chance(0.5) ? 1 : stores;
    const first = random.integer(stores);
    for (let index = 0; index < racing; index++) {
      events.push({ at, kind: 'compact', store: (first + index) % stores });
    }
    events.push(...drawMishap(random, first, at - 1));
  }
  if (random.chance(0.4)) events.push(...drawDamage(random, stores, momentNear(random, bursts)));
  return events;
}

/** The store dies, or sleeps, at a wait of its compaction. */
function drawMishap(random: SimRandom, store: number, at: number): readonly PlanEvent[] {
  const which = random.number();
  const on = random.pick(AIMS);
  const restartMs = Math.floor(random.between(100, 3_000));
  const again = random.chance(0.4) ? random.pick(OPENING_AIMS) : null;
  const ms = Math.floor(random.pick([random.between(1, 20), random.between(60, 900)]) * 1000);
  const hidden = random.pick([false, true, 'monotonic'] as const);
  const frozen = random.chance(0.5);
  if (which < 0.65) return [{ at, kind: 'crash', store, on, restartMs, again }];
  return which < 0.8 ? [{ at, kind: 'pause', store, on, ms, hidden, frozen }] : [];
}

/** A checkpoint of which something is gone for a while, and a store that opens meanwhile. */
function drawDamage(random: SimRandom, stores: number, at: number): readonly PlanEvent[] {
  const store = random.integer(stores);
  const what = random.pick(['root', 'root', 'run', 'run', 'segment'] as const);
  const how = random.pick(['removed', 'overwritten'] as const);
  const ms = Math.floor(random.between(20_000, 600_000));
  const damaged = at + Math.floor(random.between(2_000, 20_000));
  const crash = { kind: 'crash', on: null, restartMs: 200, again: null } as const;
  return [
    { at, kind: 'compact', store },
    { at: damaged, kind: 'damage', store, what, how, ms },
    { ...crash, at: damaged + 1, store: random.integer(stores) },
    { at: damaged + Math.floor(random.between(1_000, ms)), kind: 'compact', store },
  ];
}
