/** One store of a simulation through its lives: it opens, is paused, crashes and opens again. */
import { decorate } from '../../blob/decorate.ts';
import { isWrite } from '../../blob/errors.ts';
import { type BlobStore, withDeadline, withRetry } from '../../blob/index.ts';
import type { World, WorldParts } from '../../bucketstore/world.ts';
import { connect } from './client.ts';
import { loggerOf } from './compaction.ts';
import type { PlanEvent, PlannedStore } from './plan.ts';
import { SimProcess } from './process.ts';
import type { SimRandom } from './random.ts';
import type { Scene } from './scene.ts';
import type { WaitKind } from './wait.ts';

type PlannedPause = Pick<
  Extract<PlanEvent, { readonly kind: 'pause' }>,
  'ms' | 'hidden' | 'frozen'
>;

/** A store that is open in a process. */
export interface Life {
  readonly process: SimProcess;
  readonly parts: WorldParts;
  readonly world: World;
  /** The bucket as this process sees it, apart from the store. */
  readonly bucket: BlobStore;
}

/** A local clock that was wrong lately makes "a second ago" mean nothing. */
const DISTURBED_MS = 1_500;
/** How long a read may give nothing. */
const IDLE_MS = 3_000;

export class SimStore {
  readonly index: number;
  readonly #scene: Scene;
  readonly #plan: PlannedStore;
  #process: SimProcess;
  #life: Life | null = null;
  #lives = 0;
  #spared = false;
  /** True time when its clocks can be relied on again. */
  #disturbedUntil = 0;

  constructor(scene: Scene, index: number, plan: PlannedStore) {
    this.index = index;
    this.#scene = scene;
    this.#plan = plan;
    this.#process = this.#start();
  }

  /** The store that is open now; null while it is down or still opening. */
  get life(): Life | null {
    return this.#life;
  }

  get process(): SimProcess {
    return this.#process;
  }

  /** Whether its clocks were wrong at, or shortly before, a true time since `from`. */
  disturbedSince(from: number): boolean {
    return this.#disturbedUntil > from - DISTURBED_MS;
  }

  /** From now on no trouble that is still aimed at it comes. */
  spare(): void {
    this.#spared = true;
  }

  pause({ ms, hidden, frozen }: PlannedPause): void {
    if (this.#process.crashed || this.#spared) return;
    this.#process.pause(ms, hidden, frozen);
    this.#disturb(ms);
  }

  jump(ms: number): void {
    this.#process.jumpWall(ms);
    this.#disturb(0);
  }

  /**
   * Ends the process, and starts it anew after a while; `again`: it ends again as it then opens.
   */
  crash(restartMs: number, again: WaitKind | null): void {
    if (this.#process.crashed || this.#spared) return;
    this.#process.crash();
    this.#life = null;
    this.#scene.timeline.after(restartMs, () => {
      this.#process = this.#start();
      if (again !== null) this.#process.when(again, () => this.crash(restartMs, null));
    });
  }

  #disturb(ms: number): void {
    this.#disturbedUntil = Math.max(this.#disturbedUntil, this.#scene.timeline.now + ms);
  }

  #start(): SimProcess {
    const { timeline, coverage } = this.#scene;
    const id = `s${this.index}.${this.#lives++}`;
    const { wallOffsetMs } = this.#plan;
    const process = new SimProcess({ timeline, coverage, id, wallOffsetMs });
    // In a turn of its own, so that a crash can be aimed at its first call.
    timeline.after(1, () => process.deliver(() => void this.#open(process)));
    return process;
  }

  /** Opens until it succeeds, as an operator's supervisor would. */
  async #open(process: SimProcess): Promise<void> {
    const { timeline, bucket: server, faults, coverage, random, store } = this.#scene;
    const bucket = connect(timeline, server, process, faults, random, coverage);
    const components = {
      clock: process.clock,
      random: random.fork(`store ${process.id}`),
      bucket: this.#plan.idleLimit ? withIdleLimit(bucket, process) : bucket,
      logger: loggerOf(this.#scene, process),
    };
    const { inlineBytes, batchMax, queueMembers, compact } = this.#plan;
    for (;;) {
      try {
        const settings = { inlineBytes, batchMax, queueMembers, compact };
        const parts = await store.openStore('memory:', { components, settings });
        const world = new store.World(parts);
        this.#life = { process, parts, world, bucket: insistent(bucket, process, random) };
        const { tip, base } = parts.follower.snapshot;
        if (base.sequence > this.#scene.ghost.start) coverage.count('opens from a checkpoint');
        timeline.trace(`${process.id} open at ${tip.sequence}, rests on ${base.sequence}`);
        return;
      } catch (error) {
        this.#scene.noteFailure(process, `open ${process.id}`, error);
        await process.clock.sleep(1_000);
      }
    }
  }
}

/** As drivers do: a read of which nothing comes any more is begun again while there is time. */
function withIdleLimit(bucket: BlobStore, { clock }: SimProcess): BlobStore {
  const ended = withDeadline(bucket, { timing: clock });
  return decorate(ended, ({ operation }, send) => {
    return isWrite(operation) ? send() : send({ deadlineMs: IDLE_MS });
  });
}

/** What else runs in the process does not give up at the first failure either. */
function insistent(bucket: BlobStore, { clock, id }: SimProcess, random: SimRandom): BlobStore {
  const parts = { timing: clock, chance: random.fork(`beside the store ${id}`) };
  const ended = withDeadline(bucket, parts);
  // One attempt that is never answered leaves time for others.
  return withRetry(
    decorate(ended, (_call, send) => send({ deadlineMs: 2_000 })),
    parts,
  );
}
