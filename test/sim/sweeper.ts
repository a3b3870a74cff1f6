/**
 * Stands for the collector: has checkpoints made, raises the floor to what they have packed, makes
 * barriers, and removes slots below a floor that its own store has seen for the grace (DESIGN 9).
 */
import { BlobError } from '../../blob/errors.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { ControlJudge } from '../../bucketstore/commit/member.ts';
import { CHECKPOINTS_PREFIX, LOG_PREFIX, parseKey } from '../../bucketstore/log/names.ts';
import { GRACE_MS, leastElapsed, type Moment } from '../../bucketstore/log/sighting.ts';
import { counts } from '../../bucketstore/snapshot/checkpoint-state.ts';
import type { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import { decodeSlot } from '../oracle/objects.ts';
import { isStoreFailure } from './answers.ts';
import { compact } from './compaction.ts';
import type { Life, SimStore } from './life.ts';
import type { GhostCheckpoint } from './oracle/ghost-checkpoints.ts';
import type { PlanEvent } from './plan.ts';
import type { Scene } from './scene.ts';

type PlannedSweep = Extract<PlanEvent, { readonly kind: 'sweep' }>;

/** The feed's retention, shortened; clients send again within less. */
const RETENTION_MS = 5 * 60_000;
const CONTROL_MS = 20_000;

export class Sweeper {
  readonly #scene: Scene;
  /** By life: when it first saw each floor. A restart begins the wait again. */
  readonly #seen = new WeakMap<Life, Map<number, Moment>>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  sweep(store: SimStore, planned: PlannedSweep): void {
    const { life } = store;
    if (life === null) return;
    life.process.deliver(() => {
      void this.#sweep(life, planned).catch((error: unknown) => {
        if (!isStoreFailure(error) && !(error instanceof BlobError)) throw error;
        this.#scene.noteFailure(life.process, 'sweep', error);
      });
    });
  }

  async #sweep(life: Life, { checkpoint, control }: PlannedSweep): Promise<void> {
    const { follower } = life.parts;
    await follower.atTip();
    await this.#remove(life);
    if (checkpoint) await compact(this.#scene, life);
    if (control === null) return;
    const snapshot = await follower.atTip();
    const kept = await this.#keepable(life, snapshot);
    if (kept === null) return;
    const judge = this.#judge(control, snapshot, kept, await this.#oldEnough(life));
    const options = { deadlineMs: CONTROL_MS };
    const at = await life.parts.committer.control(this.#scene.random.uuid(), judge, options);
    if (at !== null) this.#scene.coverage.count(`control: ${control}`);
  }

  /** Removes the slots below a floor that this life has seen for the grace. */
  async #remove(life: Life): Promise<void> {
    const { coverage } = this.#scene;
    const { follower, sightings } = life.parts;
    const floor = follower.snapshot.control.floor.at;
    const now = sightings.newest?.at;
    if (now === undefined) return;
    const seen = this.#seen.get(life) ?? new Map<number, Moment>();
    this.#seen.set(life, seen);
    if (!seen.has(floor)) seen.set(floor, sightings.moment(now.date ?? undefined));
    const due = [...seen].filter(([, at]) => leastElapsed(at, now) > GRACE_MS).map(([at]) => at);
    const below = Math.max(0, ...due);
    const page = await life.bucket.list({ prefix: LOG_PREFIX, limit: 1000 });
    for (const { key } of page.objects) {
      const name = parseKey(key);
      if (name?.kind !== 'slot' || name.first >= below) break;
      // By its own end: the name that follows may be a stray's.
      const bytes = this.#scene.bucket.peek(key)?.bytes;
      if (bytes === undefined) continue;
      const { last, entries } = decodeSlot(key, bytes);
      // Seals stay, of whatever life.
      if (last >= below || entries.some(({ kind }) => kind === 'seal')) continue;
      await life.bucket.delete(key);
      coverage.count('slot removed');
    }
  }

  /** The newest checkpoints that count and verify, oldest first; null when there are not enough. */
  async #keepable(life: Life, snapshot: Snapshot): Promise<readonly GhostCheckpoint[] | null> {
    const { plan, checkpoints, damage } = this.#scene;
    const page = await life.bucket.list({ prefix: CHECKPOINTS_PREFIX, limit: 1000 });
    const kept: GhostCheckpoint[] = [];
    for (const { key } of page.objects) {
      const name = parseKey(key);
      if (name?.kind !== 'checkpoint' || kept.length === plan.keep) break;
      if (!counts(snapshot.control, name)) continue;
      // A newer one that counts could not be read: then nothing is condemned.
      const found = checkpoints.found.get(key);
      if (found === undefined || damage.isIn(found.reach)) return null;
      kept.unshift(found);
    }
    return kept.length < plan.keep ? null : kept;
  }

  /** The sequence before which every slot is older than the retention, by the bucket's times. */
  async #oldEnough(life: Life): Promise<number> {
    const page = await life.bucket.list({ prefix: LOG_PREFIX, limit: 1000 });
    const now = this.#scene.bucket.now();
    const young = page.objects.find(({ modifiedMs }) => now - modifiedMs < RETENTION_MS);
    const name = young === undefined ? null : parseKey(young.key);
    return name?.kind === 'slot' ? name.first : Number.MAX_SAFE_INTEGER;
  }

  #judge(
    control: 'floor' | 'barrier' | 'pin',
    judged: Snapshot,
    kept: readonly GhostCheckpoint[],
    youngest: number,
  ): ControlJudge {
    const { random } = this.#scene;
    const op = random.uuid();
    const plan = sha256Hex(Buffer.from(op));
    return (state) => {
      const { control: now } = state;
      if (control === 'pin') {
        const [held] = now.pins;
        if (held !== undefined) return { kind: 'unpin', op, id: held[0] };
        return { kind: 'pin', op, id: random.uuid(), owner: 'sim', expires: 0 };
      }
      if (now.plan !== null) return { kind: 'clear', op, plan: now.plan };
      // Kept was chosen at another tip: it must be chosen again.
      if (state.tip.sequence !== judged.tip.sequence || now.pins.length > 0) return null;
      const [oldest] = kept;
      if (oldest === undefined) return null;
      if (control === 'barrier') {
        // None whose packs end below the floor.
        if (oldest.packedThrough < now.floor.at) return null;
        const named = kept.map((one) => [sequence(one.sequence), one.epoch] as const);
        return { kind: 'barrier', op, plan, kept: named };
      }
      const at = Math.min(oldest.packedThrough, youngest);
      // The young slot that it stays below may be a stray, which is no slot's beginning.
      const begins = at === oldest.packedThrough || state.slotOf(at)?.first === at;
      if (at <= now.floor.at || !begins) return null;
      return { kind: 'floor', op, at: sequence(at), mutation: mutationBelow(state, at) };
    };
  }
}

/** The last mutation below a floor. */
function mutationBelow(state: Snapshot, at: number): ReturnType<typeof sequence> {
  const { mutation, floor } = state.control;
  return sequence(Math.max(floor.mutation, Math.min(mutation, at - 1)));
}
