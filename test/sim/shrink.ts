/**
 * Makes a failing plan small: whatever can be left out while the same rule is still broken is left
 * out, so that what remains is the story.
 */
import type { Violation } from './history.ts';
import type { Plan, PlanEvent } from './plan.ts';

export interface Shrunk {
  /** Still breaks the rule. */
  readonly plan: Plan;
  readonly violation: Violation;
  /** How many runs it took. */
  readonly runs: number;
}

/** Runs a plan and tells what it broke. */
export type PlanRunner = (plan: Plan) => Promise<readonly Violation[]>;

const RUNS_MAX = 300;

/**
 * The smallest plan found that breaks `rule`, by delta debugging over its events, then over its
 * stores, groups and reads.
 * @param runsMax how often `runPlan` may be called
 * @returns null when the plan itself does not break the rule
 */
export async function shrink(
  plan: Plan,
  rule: string,
  runPlan: PlanRunner,
  runsMax: number = RUNS_MAX,
): Promise<Shrunk | null> {
  const search = new Search(rule, runPlan, runsMax);
  if (!(await search.accepts(plan))) return null;
  await search.adopt({ acknowledged: 0 });
  await search.adopt({ calm: true });
  await search.adopt({ earlierLife: false });
  await search.leaveOutEvents();
  await search.leaveOutStores();
  await search.simplifyEvents();
  // What the simpler ones no longer need.
  await search.leaveOutEvents();
  return search.best;
}

class Search {
  readonly #rule: string;
  readonly #runPlan: PlanRunner;
  readonly #runsMax: number;
  #runs = 0;
  #best: Omit<Shrunk, 'runs'> | null = null;

  constructor(rule: string, runPlan: PlanRunner, runsMax: number) {
    this.#rule = rule;
    this.#runPlan = runPlan;
    this.#runsMax = runsMax;
  }

  get best(): Shrunk | null {
    return this.#best === null ? null : { ...this.#best, runs: this.#runs };
  }

  /** Whether a plan breaks the rule; it is then the best. False when no run is left. */
  async accepts(plan: Plan): Promise<boolean> {
    if (this.#runs >= this.#runsMax) return false;
    this.#runs += 1;
    const violations = await this.#runPlan(plan);
    const violation = violations.find(({ rule }) => rule === this.#rule);
    if (violation === undefined) return false;
    this.#best = { plan, violation };
    return true;
  }

  /** Tries the best plan with something changed. */
  async adopt(change: Partial<Plan>): Promise<boolean> {
    const { plan } = this.#best ?? {};
    return plan !== undefined && (await this.accepts({ ...plan, ...change }));
  }

  /** Leaves out ever smaller parts, down to single events, until none can be left out. */
  async leaveOutEvents(): Promise<void> {
    let parts = 2;
    for (;;) {
      const events = this.#events;
      if (events.length === 0 || this.#runs >= this.#runsMax) return;
      const size = Math.ceil(events.length / parts);
      let smaller = false;
      for (let from = 0; from < this.#events.length; ) {
        const left = this.#events.toSpliced(from, size);
        if (await this.adopt({ events: left })) smaller = true;
        else from += size;
      }
      if (size === 1 && !smaller) return;
      // Leaving one out may have made another one needless.
      parts = size === 1 ? this.#events.length : parts * 2;
    }
  }

  async leaveOutStores(): Promise<void> {
    for (let index = this.#stores.length - 1; index >= 0; index--) {
      if (this.#stores.length === 1) return;
      const stores = this.#stores.toSpliced(index, 1);
      const events = this.#events.flatMap((event) => withoutStore(event, index));
      await this.adopt({ stores, events });
    }
  }

  async simplifyEvents(): Promise<void> {
    for (let index = 0; index < this.#events.length; index++) {
      for (;;) {
        const event = this.#events[index];
        if (event === undefined || !(await this.#adoptOne(index, simplerThan(event)))) break;
      }
    }
  }

  async #adoptOne(index: number, candidates: readonly PlanEvent[]): Promise<boolean> {
    for (const candidate of candidates) {
      if (await this.adopt({ events: this.#events.with(index, candidate) })) return true;
    }
    return false;
  }

  get #events(): readonly PlanEvent[] {
    return this.#best?.plan.events ?? [];
  }

  get #stores(): Plan['stores'] {
    return this.#best?.plan.stores ?? [];
  }
}

/** An event of the stores that are left, which move up. */
function withoutStore(event: PlanEvent, gone: number): readonly PlanEvent[] {
  if (event.store === gone) return [];
  const moved = (store: number): number => (store > gone ? store - 1 : store);
  const store = moved(event.store);
  if (event.kind !== 'write') return [{ ...event, store }];
  const twin = event.twin === null || event.twin === gone ? null : moved(event.twin);
  return [{ ...event, store, twin }];
}

/** The same event with one thing less. */
function simplerThan(event: PlanEvent): readonly PlanEvent[] {
  switch (event.kind) {
    case 'write': {
      const { mutations, twin } = event;
      const fewer = mutations.length > 1 ? mutations.map((_, i) => mutations.toSpliced(i, 1)) : [];
      const alone = twin === null ? [] : [{ ...event, twin: null }];
      return [...alone, ...fewer.map((left) => ({ ...event, mutations: left }))];
    }
    case 'view': {
      const { reads } = event;
      if (reads.length < 2) return [];
      return reads.map((_, index) => ({ ...event, reads: reads.toSpliced(index, 1) }));
    }
    case 'crash':
      return event.again === null ? [] : [{ ...event, again: null }];
    case 'pause':
    case 'jump':
    case 'sweep':
    case 'compact':
    case 'damage':
      return [];
    default:
      return event satisfies never;
  }
}
