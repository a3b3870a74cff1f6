/**
 * Objects of the newest checkpoint that are lost or overwritten for a while, as by a hand or a rule
 * of the bucket's: whoever opens meanwhile must do without it, and serve nothing of it. Only what
 * no older checkpoint has too, and no pack: the log is whole all the time.
 */
import { BlobError } from '../../blob/errors.ts';
import { isStoreFailure } from './answers.ts';
import type { SimBucket } from './bucket.ts';
import type { Coverage } from './coverage.ts';
import type { GhostCheckpoints } from './oracle/ghost-checkpoints.ts';
import type { GhostLog } from './oracle/ghost-log.ts';
import { type DerivedType, readKey } from './oracle/keys.ts';
import type { PlanEvent } from './plan.ts';
import type { SimProcess } from './process.ts';
import type { Timeline } from './time.ts';

type PlannedDamage = Extract<PlanEvent, { readonly kind: 'damage' }>;

/** How long a call takes at most, with what is told of it, ms. */
const TOLD_MS = 60_000;

export interface DamageParts {
  readonly timeline: Timeline;
  readonly bucket: SimBucket;
  readonly coverage: Coverage;
  readonly ghost: GhostLog;
  readonly checkpoints: GhostCheckpoints;
  /** Checkpoints that a floor keeps: with one alone there is nothing to fall back on. */
  readonly keep: number;
}

export class Damage {
  readonly #parts: DamageParts;
  /** Each with when it was put right: infinity while it is damaged. */
  readonly #keys = new Map<string, number>();

  constructor(parts: DamageParts) {
    this.#parts = parts;
  }

  /** Whether any of these objects is damaged now. */
  isIn(reach: Iterable<string>): boolean {
    const { now } = this.#parts.timeline;
    for (const key of reach) if ((this.#keys.get(key) ?? 0) > now) return true;
    return false;
  }

  /**
   * Whether an error tells of an object that is damaged, or was when the process that tells can
   * have read it: not long ago, but for the time that it slept.
   */
  explains(error: unknown, { wokeAt }: Pick<SimProcess, 'wokeAt'>): boolean {
    if (error instanceof BlobError || !isStoreFailure(error)) return false;
    const rightAt = this.#keys.get(error.details.object ?? '');
    if (rightAt === undefined) return false;
    return this.#parts.timeline.now - Math.max(rightAt, wokeAt) <= TOLD_MS;
  }

  /** Damages an object of the newest checkpoint, and puts it right after a while. */
  strike({ what, how, ms }: PlannedDamage): void {
    const { timeline, bucket, coverage, ghost, checkpoints, keep } = this.#parts;
    const key = this.#choose(what);
    const bytes = checkpoints.bytes(key ?? '');
    if (keep < 2 || key === null || bytes === undefined || this.#keys.has(key)) return;
    this.#keys.set(key, Number.POSITIVE_INFINITY);
    bucket.damage(key, how === 'removed' ? null : new Uint8Array(bytes.length));
    if (how === 'removed') ghost.lost(key);
    coverage.count(`damage: ${what} ${how}`);
    timeline.after(ms, () => {
      this.#keys.set(key, timeline.now);
      bucket.damage(key, bytes);
    });
  }

  /** An object that only the newest checkpoint has; null when it has none, or is alone. */
  #choose(what: DerivedType): string | null {
    const { found, newest } = this.#parts.checkpoints;
    if (newest === null || found.size < this.#parts.keep) return null;
    const others = [...found.values()].filter((one) => one !== newest);
    for (const key of newest.reach) {
      const name = readKey(key);
      if (name.kind !== 'derived' || name.type !== what) continue;
      if (!others.some(({ reach }) => reach.has(key))) return key;
    }
    return null;
  }
}
