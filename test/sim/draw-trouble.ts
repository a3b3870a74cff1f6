/**
 * Draws what goes wrong beside the network: crashes at any wait, pauses, clocks that jump, and
 * sweeps that remove slots while a store sleeps longer than they are kept.
 */
import type { Burst } from './draw-plan.ts';
import type { PlanEvent, PlannedMutation } from './plan.ts';
import type { SimRandom } from './random.ts';
import type { CallKind, WaitKind } from './wait.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Waits of a running store that a crash or a pause is aimed at. */
const AIMS: readonly (WaitKind | CallKind)[] = [
  'create slot request',
  'create slot answer',
  'get slot request',
  'get slot answer',
  'create blob request',
  'create blob request',
  'create blob answer',
  'create blob answer',
  'create blob answer',
  'head request',
  'head answer',
  'sleep',
];

/** Waits of a store that opens. */
export const OPENING_AIMS: readonly WaitKind[] = [
  'get marker request',
  'get marker answer',
  'list log request',
  'list log answer',
  'list checkpoints request',
  'list checkpoints answer',
  'get checkpoint request',
  'get checkpoint answer',
  'get root answer',
  'get segment answer',
];

export function drawTrouble(
  random: SimRandom,
  stores: number,
  bursts: readonly Burst[],
): readonly PlanEvent[] {
  const some = (most: number, draw: () => readonly PlanEvent[]): PlanEvent[] => {
    return Array.from({ length: random.integer(most + 1) }, draw).flat();
  };
  return [
    ...some(7, () => [drawCrash(random, stores, bursts)]),
    ...some(3, () => [drawPause(random, stores, bursts)]),
    ...some(2, () => [drawJump(random, stores, bursts)]),
    ...some(6, () => [drawSweep(random, stores, momentNear(random, bursts))]),
    ...some(stores > 1 ? 2 : 0, () => drawSleep(random, stores, bursts)),
  ];
}

/** A moment in a burst, or shortly after one. */
export function momentNear(random: SimRandom, bursts: readonly Burst[]): number {
  const { from, ms } = random.pick(bursts);
  return Math.floor(from + random.number() * (ms + 2_000));
}

function drawCrash(random: SimRandom, stores: number, bursts: readonly Burst[]): PlanEvent {
  const on = random.chance(0.8) ? random.pick(AIMS) : null;
  const restartMs = Math.floor(random.between(100, 5_000));
  const again = random.chance(0.85) ? random.pick(OPENING_AIMS) : null;
  const at = momentNear(random, bursts);
  return { at, kind: 'crash', store: random.integer(stores), on, restartMs, again };
}

function drawPause(random: SimRandom, stores: number, bursts: readonly Burst[]): PlanEvent {
  const ms = Math.floor(random.pick([random.between(0.2, 8), random.between(60, 900)]) * 1000);
  const on = random.chance(0.6) ? random.pick(AIMS) : null;
  const hidden = random.pick([false, false, true, 'monotonic'] as const);
  const store = random.integer(stores);
  const frozen = random.chance(0.3);
  return { at: momentNear(random, bursts), kind: 'pause', store, on, ms, hidden, frozen };
}

function drawJump(random: SimRandom, stores: number, bursts: readonly Burst[]): PlanEvent {
  const ms = Math.floor(random.pick([random.between(-5, 5), random.between(-120, 120)]) * MINUTE);
  return { at: momentNear(random, bursts), kind: 'jump', store: random.integer(stores), ms };
}

function drawSweep(random: SimRandom, stores: number, at: number): PlanEvent {
  const control = random.pick(['floor', 'floor', 'barrier', 'pin', null] as const);
  return {
    at,
    kind: 'sweep',
    store: random.integer(stores),
    checkpoint: random.chance(0.7),
    control,
  };
}

/**
 * One or more stores fall asleep in a burst, at a wait of a commit as a rule, while another goes
 * on, writes a checkpoint, raises the floor, waits for the grace and removes the slots.
 */
function drawSleep(
  random: SimRandom,
  stores: number,
  bursts: readonly Burst[],
): readonly PlanEvent[] {
  const awake = random.integer(stores);
  const sleepers = Array.from({ length: stores }, (_, index) => index).filter((store) => {
    return store !== awake && random.chance(0.85);
  });
  const start = momentNear(random, bursts);
  const hidden = random.pick([false, true, true, 'monotonic'] as const);
  const ms = Math.floor(random.between(76 * MINUTE, 3 * HOUR));
  const opening = random.fork(`opening ${start}`);
  const events: PlanEvent[] = sleepers.flatMap((store): readonly PlanEvent[] => {
    const on = random.chance(0.9) ? random.pick(COMMIT_WAITS) : null;
    // They wake at about the same moment.
    const length = ms + Math.floor(random.between(0, 20_000));
    const pause = { kind: 'pause', store, ms: length, hidden, frozen: random.chance(0.8) } as const;
    if (!opening.chance(0.2)) return [{ ...pause, at: start, on }];
    const crash = { kind: 'crash', store, on: null, restartMs: 200, again: null } as const;
    const waits = opening.pick(OPENING_AIMS);
    return [
      { ...crash, at: start },
      { ...pause, at: start + 202, on: waits },
    ];
  });
  // While they sleep: checkpoints and floors early, removals after the grace.
  const sweeps = [
    [random.between(30_000, 60_000), null],
    [random.between(2, 3) * MINUTE, null],
    [random.between(7, 9) * MINUTE, 'floor'],
    [random.between(9.5, 12) * MINUTE, 'floor'],
    // Sees the floor: the grace runs from here.
    [random.between(12, 13) * MINUTE, null],
    [random.between(74, 75) * MINUTE, null],
  ] as const;
  for (const [after, control] of sweeps) {
    const at = Math.floor(start + after);
    events.push({ at, kind: 'sweep', store: awake, checkpoint: after < HOUR, control });
  }
  return [...events, ...drawMeanwhile(random, awake, sleepers, start, ms)];
}

const COMMIT_WAITS: readonly WaitKind[] = [
  'create slot request',
  'create slot request',
  'create slot request',
  'create slot request',
  'create slot answer',
  'get slot answer',
  'sleep',
];

/** Writes of the store that is awake, and of all as they wake. */
function drawMeanwhile(
  random: SimRandom,
  awake: number,
  sleepers: readonly number[],
  start: number,
  ms: number,
): readonly PlanEvent[] {
  const bare = { metadata: { tags: 'area:sim', owner: 'us' }, archived: false, requires: null };
  const publish = (at: number, path: string): PlannedMutation => {
    const body = `${path} at ${Math.floor(at)}\n`;
    return { ...bare, kind: 'publish', path, body, expected: 'any' };
  };
  const write = (at: number, store: number, more: readonly string[] = []): PlanEvent => {
    const path = random.pick(['/a.md', '/b.md', `/own/${store}-0.md`]);
    const mutations = [path, ...more].map((one) => publish(at, one));
    return { at, kind: 'write', store, mutations, deadlineMs: 10_000, twin: null };
  };
  const events: PlanEvent[] = [];
  // Just before they fall asleep, so that something is under way.
  for (const store of sleepers) events.push(write(start + 1 + random.integer(3_000), store));
  // Several entries each, so that a unit is complete and can be packed.
  const more = [1, 2, 3].map((number) => `/awake/${awake}-${number}.md`);
  for (const after of [5_000, 20_000, 90_000, 5 * MINUTE, 9.2 * MINUTE, 30 * MINUTE]) {
    events.push(write(start + after + random.integer(5_000), awake, more));
  }
  for (const store of [awake, ...sleepers]) {
    events.push(write(start + ms + random.integer(25_000), store));
  }
  return events;
}
