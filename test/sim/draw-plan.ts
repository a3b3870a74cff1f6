/**
 * Draws a plan from a seed: bursts of calls with quiet times between them, and trouble on top
 * (`draw-trouble.ts`). The whole takes hours of virtual time, which cost nothing.
 */
import { drawCompactions } from './draw-compactions.ts';
import { drawTrouble } from './draw-trouble.ts';
import type { Plan, PlanEvent, PlannedMutation, PlannedRead, PlannedStore } from './plan.ts';
import { SimRandom } from './random.ts';
import { INLINE_BYTES } from './sizes.ts';

/**
 * Documents that everybody writes, each its own store's, and paths that are in each other's way.
 */
const SHARED = ['/a.md', '/b.md', '/guide/c.md', '/guide/d.md'] as const;
const RIVALS = ['/t', '/t/x.md', '/t/x.md/y', '/guide'] as const;
const POLICY_PATH = '/.well-known/demarkus/policy.md';
const POLICIES = [
  'strictness: block\nrequire_fields: owner\n',
  'strictness: warn\n',
  'strictness: ask\nrequire_tags: area\n',
] as const;

/** Acknowledged writes that every run must have. */
export const ACKNOWLEDGED_MIN = 150;
/** Calls of a run that are writes. */
const WRITES = 155;
const VIEWS = 20;
/** Times at which one store is read from again and again while everybody writes. */
const STORMS = 4;
const MINUTE = 60_000;

export function drawPlan(seed: number): Plan {
  const random = new SimRandom(seed).fork('plan');
  const count = random.pick([1, 2, 2, 3, 3, 4]);
  const background = random.fork('background');
  const compacts = background.chance(0.3);
  const stores = Array.from({ length: count }, () => {
    const compact = compacts && background.chance(0.9);
    return { ...drawStore(random), compact, idleLimit: background.chance(0.75) };
  });
  const calls = drawCalls(random.fork('calls'), count);
  const trouble = drawTrouble(random.fork('trouble'), count, calls.bursts);
  const compactions = drawCompactions(random.fork('compactions'), count, calls.bursts);
  const events = [...calls.events, ...trouble, ...compactions].sort((a, b) => a.at - b.at);
  return {
    seed,
    stores,
    serverOffsetMs: Math.floor(random.between(-10, 10) * MINUTE),
    earlierLife: random.fork('earlier life').chance(0.08),
    keep: random.pick([1, 2, 2, 3]),
    acknowledged: ACKNOWLEDGED_MIN,
    calm: false,
    events,
  };
}

function drawStore(random: SimRandom): Omit<PlannedStore, 'compact' | 'idleLimit'> {
  return {
    inlineBytes: random.pick([INLINE_BYTES, INLINE_BYTES, 300, 0]),
    batchMax: random.pick([256, 256, 4, 1]),
    // Few may wait in some, so that they are refused.
    queueMembers: random.pick([16_384, 16_384, 16_384, 6]),
    wallOffsetMs: Math.floor(random.between(-2, 2) * MINUTE),
  };
}

/** When most happens. */
export interface Burst {
  readonly from: number;
  readonly ms: number;
}

function drawCalls(
  random: SimRandom,
  stores: number,
): { readonly events: readonly PlanEvent[]; readonly bursts: readonly Burst[] } {
  const bursts: Burst[] = [];
  let from = 1000;
  for (let left = 8 + random.integer(5); left > 0; left--) {
    const ms = random.between(2_000, 15_000);
    bursts.push({ from, ms });
    from += ms + drawGap(random);
  }
  const writer = new Writer(random.fork('writes'), stores);
  const events: PlanEvent[] = [];
  for (let index = 0; index < WRITES; index++) events.push(writer.draw(momentIn(random, bursts)));
  for (let index = 0; index < VIEWS; index++) {
    const at = momentIn(random, bursts);
    const store = random.integer(stores);
    const reads = drawReads(random);
    // Soon after, what may be served without another look.
    const next = { afterMs: Math.floor(random.between(1, 1_200)), read: drawSearch(random) };
    events.push({ at, kind: 'view', store, reads, next: random.chance(0.7) ? next : null });
  }
  for (let index = 0; index < STORMS; index++) {
    events.push(...drawStorm(random, stores, writer, momentIn(random, bursts)));
  }
  return { events, bursts };
}

function drawStorm(
  random: SimRandom,
  stores: number,
  writer: Writer,
  from: number,
): readonly PlanEvent[] {
  const store = random.integer(stores);
  const events: PlanEvent[] = [];
  for (let after = 0; after < 1_200; after += 30 + random.integer(100)) {
    const read: PlannedRead = { what: 'get', path: random.pick(SHARED) };
    const reads = [random.chance(0.5) ? read : drawSearch(random)];
    events.push({ at: from + after, kind: 'view', store, reads, next: null });
  }
  for (let after = 0; after < 800; after += 100) {
    events.push(writer.draw(from + after + random.integer(100)));
  }
  return events;
}

function drawGap(random: SimRandom): number {
  const which = random.number();
  if (which < 0.5) return random.between(1_000, 20_000);
  return which < 0.8 ? random.between(1, 10) * MINUTE : random.between(20, 90) * MINUTE;
}

function momentIn(random: SimRandom, bursts: readonly Burst[]): number {
  const { from, ms } = random.pick(bursts);
  return Math.floor(from + random.number() * ms);
}

class Writer {
  readonly #random: SimRandom;
  readonly #stores: number;
  readonly #policies: boolean;
  readonly #retention: SimRandom;
  #count = 0;

  constructor(random: SimRandom, stores: number) {
    this.#random = random;
    this.#stores = stores;
    this.#policies = random.chance(0.4);
    this.#retention = random.fork('retention');
  }

  draw(at: number): PlanEvent {
    const random = this.#random;
    const store = random.integer(this.#stores);
    const size = random.chance(0.1) ? 2 + random.integer(3) : 1;
    const mutations = Array.from({ length: size }, () => this.#mutation(store));
    const twin = random.chance(0.04) ? random.integer(this.#stores) : null;
    const deadlineMs = random.chance(0.15) ? 200 + random.integer(2_500) : 10_000;
    return { at, kind: 'write', store, mutations, deadlineMs, twin };
  }

  #mutation(store: number): PlannedMutation {
    const random = this.#random;
    this.#count += 1;
    if (this.#policies && random.chance(0.04)) return this.#policy();
    const path = this.#path(store);
    const which = random.number();
    const kind = which < 0.82 ? 'publish' : which < 0.93 ? 'append' : 'archive';
    const large = random.chance(0.25) ? 'x'.repeat(400) : '';
    const fits = random.chance(0.85);
    return {
      kind,
      path,
      // Now and then the same again, so that there is nothing to commit.
      body: random.chance(0.04) ? 'the same\n' : `${path} ${this.#count} ${large}\n`,
      metadata: this.#metadata(kind, this.#policies && fits),
      archived: random.chance(0.45),
      expected: this.#expected(kind),
      requires: random.chance(0.1) ? random.pick(SHARED) : null,
    };
  }

  /** Now and then with a limit to the versions that are kept. */
  #metadata(kind: PlannedMutation['kind'], fits: boolean): PlannedMutation['metadata'] {
    const fitting = fits ? { tags: 'area:sim', owner: 'us' } : null;
    const versions = 1 + this.#retention.integer(6);
    if (kind !== 'publish' || !this.#retention.chance(0.15)) return fitting;
    return { ...fitting, retention: String(versions) };
  }

  #expected(kind: PlannedMutation['kind']): PlannedMutation['expected'] {
    const which = this.#random.number();
    if (kind === 'append') return which < 0.8 ? 'known version' : 'known etag';
    if (which < 0.55) return 'any';
    if (which < 0.85) return 'known version';
    if (which < 0.92) return 'known etag';
    return which < 0.96 ? 'absent' : 'older version';
  }

  #path(store: number): string {
    const random = this.#random;
    const which = random.number();
    if (which < 0.45) return random.pick(SHARED);
    if (which < 0.65) return `/own/${store}-${random.integer(4)}.md`;
    if (which < 0.88) return `/new/${this.#count}.md`;
    return random.pick(RIVALS);
  }

  #policy(): PlannedMutation {
    const random = this.#random;
    const bare = { metadata: null, archived: random.chance(0.5), requires: null };
    const kind = random.chance(0.8) ? 'publish' : 'archive';
    return { ...bare, kind, path: POLICY_PATH, body: random.pick(POLICIES), expected: 'any' };
  }
}

function drawReads(random: SimRandom): readonly PlannedRead[] {
  const count = 1 + random.integer(3);
  return Array.from({ length: count }, (): PlannedRead => {
    const path = random.pick([...SHARED, ...SHARED, ...RIVALS, '/own/0-1.md']);
    const which = random.number();
    if (which < 0.6) return { what: 'get', path };
    if (which < 0.7) return { what: 'versions', path };
    return which < 0.8 ? { what: 'isDir', path } : drawSearch(random);
  });
}

/** A read that may be a second old. */
function drawSearch(random: SimRandom): PlannedRead {
  if (random.chance(0.5)) return { what: 'hash', path: random.pick(SHARED) };
  return { what: 'list', path: random.pick(['/', '/own', '/new', '/new', '/new']) };
}
