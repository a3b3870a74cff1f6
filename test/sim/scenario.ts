/**
 * A scenario by hand: stores on the simulated bucket, a quiet network but for what the scenario
 * orders for single calls, and the whole oracle at its end.
 */
import type { BlobOperation } from '../../blob/errors.ts';
import type { Effect } from './bucket.ts';
import { compact } from './compaction.ts';
import { CALM_PROFILE, type Fate, Faults } from './faults.ts';
import type { CalledMutation, Violation, WriteCall, WriteOutcome } from './history.ts';
import { type Life, SimStore } from './life.ts';
import { check } from './oracle/checks.ts';
import type { Plan } from './plan.ts';
import type { SimRandom } from './random.ts';
import { makeScene, type Scene } from './scene.ts';
import { INLINE_BYTES } from './sizes.ts';
import { Sweeper } from './sweeper.ts';
import { commit } from './writer.ts';

/** What happens to a call; null: nothing but a short delay. Asked once for each, as it is made. */
export type Order = (operation: BlobOperation, key: string) => Partial<Fate> | null;

export interface ScenarioOptions {
  readonly stores: number;
  readonly inlineBytes?: number;
  /** Whether the stores make checkpoints in the background. Default false. */
  readonly compact?: boolean;
  readonly order?: Order;
}

const MINUTE = 60_000;
const LIMIT_MS = 24 * 60 * MINUTE;

/** A request under way; `outcome` is null until it is answered. */
export interface Sent {
  readonly op: string;
  readonly answered: Promise<WriteOutcome>;
  outcome: WriteOutcome | null;
}

export class Scenario {
  readonly scene: Scene;
  readonly stores: readonly SimStore[];
  readonly effects: Effect[] = [];
  readonly #sweeper: Sweeper;
  #rounds = 0;

  private constructor(scene: Scene) {
    this.scene = scene;
    this.stores = scene.plan.stores.map((plan, index) => new SimStore(scene, index, plan));
    this.#sweeper = new Sweeper(scene);
    scene.bucket.onEffect((effect) => this.effects.push(effect));
  }

  /** All stores are open when it answers. */
  static async begin(options: ScenarioOptions): Promise<Scenario> {
    const { stores, inlineBytes = INLINE_BYTES, compact: compacts = false, order } = options;
    const sizes = { inlineBytes, batchMax: 256, queueMembers: 16_384 };
    const planned = { ...sizes, compact: compacts, idleLimit: false, wallOffsetMs: 0 };
    const plan: Plan = {
      ...{ seed: 1, serverOffsetMs: 0, earlierLife: false, keep: 1 },
      ...{ acknowledged: 0, calm: true, events: [] },
      stores: Array.from({ length: stores }, () => planned),
    };
    const faults = new OrderedFaults(order ?? (() => null));
    const scenario = new Scenario(await makeScene(plan, { faults }));
    await scenario.until(() => scenario.stores.every(({ life }) => life !== null));
    return scenario;
  }

  /** Lets time pass. @throws Error when what is waited for does not come within a day */
  async until(done: (() => boolean) | number): Promise<void> {
    const { timeline } = this.scene;
    if (typeof done === 'number') await timeline.run(timeline.now + done);
    else if (!(await timeline.run(done, timeline.now + LIMIT_MS))) throw new Error('never came');
  }

  life(store: number): Life {
    const { life = null } = this.stores[store] ?? {};
    if (life === null) throw new Error(`store ${store} is down`);
    return life;
  }

  /**
   * Sends blind publishes as one request.
   * @param op to send a request again
   * @param text what makes another body of it
   */
  send(store: number, paths: readonly string[], op?: string, deadlineMs = 10_000, text = ''): Sent {
    const { timeline, history, random } = this.scene;
    const life = this.life(store);
    const mutations = paths.map((path) => publishOf(path, text));
    const ids = { process: life.process.id, op: op ?? random.uuid() };
    const open: WriteCall = {
      ...{ kind: 'write', ...ids, mutations },
      ...{ called: timeline.now, returned: null, outcome: null },
    };
    const answered = history.call(life.process, open);
    const work = commit(life, { op: ids.op, mutations, deadlineMs });
    const sent: Sent = { op: ids.op, answered: work, outcome: null };
    void work.then((outcome) => {
      sent.outcome = outcome;
      answered(timeline.now, { ...open, returned: timeline.now, outcome });
    });
    return sent;
  }

  /**
   * Sends publishes, each its own request and unlike those before, and lets time pass until all are
   * answered.
   */
  async publish(store: number, paths: readonly string[]): Promise<readonly WriteOutcome[]> {
    this.#rounds += 1;
    const text = ` ${this.#rounds}`;
    const sent = paths.map((path) => this.send(store, [path], undefined, undefined, text));
    return this.settle(Promise.all(sent.map(({ answered }) => answered)));
  }

  /** Lets time pass until work settles. */
  async settle<T>(work: Promise<T>): Promise<T> {
    let settled = false;
    const settle = (): void => {
      settled = true;
    };
    work.then(settle, settle);
    await this.until(() => settled);
    return work;
  }

  /** Has a store make checkpoints up to the tip. */
  async compact(store: number): Promise<void> {
    await this.settle(compact(this.scene, this.life(store)));
  }

  /** A checkpoint, a floor, the grace, and the removal of what lies below: by one store. */
  async collect(store: number): Promise<void> {
    const sweep = async (checkpoint: boolean, control: 'floor' | null): Promise<void> => {
      const of = this.stores[store];
      const parts = { at: 0, kind: 'sweep', store, checkpoint, control } as const;
      if (of !== undefined) this.#sweeper.sweep(of, parts);
      await this.until(20_000);
    };
    await sweep(true, null);
    await this.until(6 * MINUTE);
    await this.publish(store, ['/before/floor.md']);
    await sweep(false, 'floor');
    await sweep(false, null);
    await this.until(61 * MINUTE);
    await sweep(false, null);
  }

  /** What store and bucket did wrong. */
  violations(): readonly Violation[] {
    const { history, ghost } = this.scene;
    return [...history.violations, ...ghost.violations, ...check(history.calls, ghost)];
  }

  /** The version of a document in the log; 0 for none. */
  version(path: string): number {
    return this.scene.ghost.world?.documents.get(path)?.state?.version ?? 0;
  }
}

/** A calm network, but for the orders. */
class OrderedFaults extends Faults {
  readonly #order: Order;

  constructor(order: Order) {
    super(CALM_PROFILE);
    this.calm();
    this.#order = order;
  }

  override fateOf(operation: BlobOperation, random: SimRandom, key = ''): Fate {
    return { ...super.fateOf(operation, random), ...this.#order(operation, key) };
  }
}

function publishOf(path: string, text: string): CalledMutation {
  const bare = { metadata: null, archived: false, requires: null };
  return { ...bare, kind: 'publish', path, body: `about ${path}${text}\n`, expected: 'any' };
}

/** The `nth` calls, counted from 1, of an operation on a kind of key meet a fate. */
export function nth(
  operation: BlobOperation,
  part: string,
  numbers: readonly number[],
  fate: Partial<Fate>,
): Order {
  let count = 0;
  return (called, key) => {
    if (called !== operation || !key.includes(part)) return null;
    count += 1;
    return numbers.includes(count) ? fate : null;
  };
}

/** The first order that has something to say. All of them count the call. */
export function orders(...all: readonly Order[]): Order {
  return (operation, key) => {
    const fates = all.map((order) => order(operation, key));
    return fates.find((fate) => fate !== null) ?? null;
  };
}
