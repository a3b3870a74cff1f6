/**
 * The probe: asks a location, by trying, for each guarantee that the rest of the project builds on
 * (`blob.ts`). Servers that accept a condition and ignore it, or list in another order, would lose
 * data silently; here they are refused by name before anything is written.
 *
 * It runs before genesis, import into an empty location, restore and migrate, and in `doctor`;
 * opening an existing world does not probe. It belongs on a driver with `withDeadline`, not above
 * hedging, which would make every refusal ambiguous and cost a read each.
 */
import type { BlobStore, Chance, Timing } from './blob.ts';
import { BlobError, type BlobOperation } from './errors.ts';
import { Bench } from './probe-bench.ts';
import { CHECKS } from './probe-checks.ts';
import { checkSignal } from './validate.ts';

export type GuaranteeName =
  | 'create-if-absent'
  | 'concurrent create'
  | 'strong reads'
  | 'strong not-found'
  | 'byte-ordered lists'
  | 'list start offset'
  | 'range reads'
  | 'delete'
  | 'replace at a generation';

/** What one guarantee turned out to be. */
export interface Guarantee {
  readonly name: GuaranteeName;
  readonly needed: 'always' | 'migrate and rollback';
  /** `not tried`: a permission is missing, or the caller left it out. */
  readonly holds: boolean | 'not tried';
  /** What was seen. */
  readonly detail: string;
  /** What to do about it; empty when it holds. */
  readonly advice: string;
}

/** A 403 of a service: the credentials are known and lack this. */
export interface MissingPermission {
  readonly operation: BlobOperation;
  /** As Google Cloud and as S3 call it. */
  readonly gcs: string;
  readonly s3: string;
}

/** Plain data: printed as JSON it is the report itself. */
export interface ProbeReport {
  /** `BlobStore.name`. */
  readonly location: string;
  readonly guarantees: readonly Guarantee[];
  readonly missingPermissions: readonly MissingPermission[];
  /** Calls made, the removal of the probe's names included. */
  readonly requests: number;
  /** Names of the probe that may still be there; removing them by hand is safe. */
  readonly leftovers: readonly string[];
}

export interface ProbeOptions {
  readonly chance: Chance;
  readonly timing: Timing;
  /** How many creators race for one name, ≥ 2. Default 8. */
  readonly creators?: number | undefined;
  /** Whether to try `replace at a generation`. Default true. */
  readonly replace?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

const CREATORS_DEFAULT = 8;

/**
 * Tries every guarantee under `_demarkus/v1/probe/<uuid>/` and removes what it wrote, also when it
 * fails.
 *
 * On a location that keeps them all: 56 calls with 8 creators (20 creates, 2 replaces, 11 gets, 3
 * heads, 7 lists, 13 deletes), 50 without `replace`. Throttled or unavailable calls are repeated,
 * up to five times with pauses of a second and more, because a bucket may refuse a second mutation
 * of a name within a second; a write with an unknown outcome is settled by reading its name.
 *
 * @throws BlobError for what no guarantee is to blame for: `no-bucket`, `unauthenticated`,
 *   `aborted`, or a service that stays `unavailable`, `throttled` or silent. A 403 is no error but
 *   a missing permission.
 */
export async function probe(store: BlobStore, options: ProbeOptions): Promise<ProbeReport> {
  const { chance, timing, creators = CREATORS_DEFAULT, replace = true, signal } = options;
  if (!Number.isInteger(creators) || creators < 2) {
    throw new RangeError(`creators is an integer of at least 2, got ${creators}`);
  }
  checkSignal('create', '_demarkus/v1/probe/', signal);
  const prefix = `_demarkus/v1/probe/${chance.uuid()}/`;
  const bench = new Bench({ store, timing, prefix, creators, signal });
  const guarantees: Guarantee[] = [];
  let leftovers: readonly string[] = [];
  try {
    for (const check of CHECKS) {
      if (check.needed === 'always' || replace) guarantees.push(await bench.try(check));
      else guarantees.push(leftOut(check.name, check.needed));
    }
  } finally {
    leftovers = await bench.clear();
  }
  const { requests, missingPermissions } = bench;
  return { location: store.name, guarantees, missingPermissions, requests, leftovers };
}

function leftOut(name: GuaranteeName, needed: Guarantee['needed']): Guarantee {
  return { name, needed, holds: 'not tried', detail: 'left out', advice: '' };
}

/**
 * Refuses a location that is not fit for a purpose; costs no request.
 * @param purpose `always` asks for what every world needs, `migrate and rollback` for everything
 * @throws BlobError `forbidden` naming the missing permissions, or on a file system what to do; or
 *   `unsupported` naming the missing guarantees
 */
export function assertUsable(report: ProbeReport, purpose: Guarantee['needed'] = 'always'): void {
  const missing = report.guarantees.filter(
    ({ needed, holds }) => holds !== true && (needed === 'always' || purpose === needed),
  );
  const [first] = missing;
  if (first === undefined) return;
  const broken = missing.filter(({ holds }) => holds === false);
  const operation = 'create';
  const key = '_demarkus/v1/probe/';
  const forbidden = broken.length === 0 ? whatIsForbidden(report, missing) : '';
  if (forbidden !== '') {
    throw new BlobError({ code: 'forbidden', operation, key, message: forbidden });
  }
  const reasons = (broken.length > 0 ? broken : missing).map(
    ({ name, detail, advice }) => `${name}: ${detail}${advice === '' ? '' : `; ${advice}`}`,
  );
  const message = `${report.location} lacks what is needed: ${reasons.join('. ')}`;
  throw new BlobError({ code: 'unsupported', operation, key, message });
}

/** Why nothing could be tried, in one sentence; empty when that is not for want of rights. */
function whatIsForbidden(report: ProbeReport, missing: readonly Guarantee[]): string {
  if (report.missingPermissions.length > 0) {
    const names = report.missingPermissions.map(({ gcs, s3 }) => `${gcs} (${s3})`).join(', ');
    return `the credentials for ${report.location} lack ${names}`;
  }
  // A file system knows no names for what it refuses, but what to do about it.
  const advice = new Set(missing.map((one) => one.advice).filter((words) => words !== ''));
  return advice.size === 0 ? '' : `${report.location}: ${[...advice].join('. ')}`;
}
