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
import type { Timeline } from './time.ts';

type PlannedDamage = Extract<PlanEvent, { readonly kind: 'damage' }>;

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
  /** Each with whether it is still damaged: what was told of it may be told later. */
  readonly #keys = new Map<string, boolean>();

  constructor(parts: DamageParts) {
    this.#parts = parts;
  }

  /** Whether any of these objects is damaged now. */
  isIn(reach: Iterable<string>): boolean {
    for (const key of reach) if (this.#keys.get(key) === true) return true;
    return false;
  }

  /** Whether an error tells of an object that is, or was, damaged. */
  explains(error: unknown): boolean {
    if (error instanceof BlobError || !isStoreFailure(error)) return false;
    return error.details.object !== undefined && this.#keys.has(error.details.object);
  }

  /** Damages an object of the newest checkpoint, and puts it right after a while. */
  strike({ what, how, ms }: PlannedDamage): void {
    const { timeline, bucket, coverage, ghost, checkpoints, keep } = this.#parts;
    const key = this.#choose(what);
    const bytes = checkpoints.bytes(key ?? '');
    if (keep < 2 || key === null || bytes === undefined || this.#keys.has(key)) return;
    this.#keys.set(key, true);
    bucket.damage(key, how === 'removed' ? null : new Uint8Array(bytes.length));
    if (how === 'removed') ghost.lost(key);
    coverage.count(`damage: ${what} ${how}`);
    timeline.after(ms, () => {
      this.#keys.set(key, false);
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
