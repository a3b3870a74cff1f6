/** Which location a command is about, and its bucket. */
import {
  type BlobStore,
  type Location,
  type Observer,
  openBucket,
  parseLocation,
} from '../../blob/index.ts';
import { systemClock } from '../base/clock.ts';
import { StoreError } from '../base/errors.ts';
import { createLimit } from '../base/limit.ts';
import { systemRandom } from '../base/random.ts';
import { type CommandContext, textFlag } from './command.ts';

/** The environment variable that stands in for the argument. */
export const LOCATION_VARIABLE = 'BUCKETSTORE_LOCATION';

export interface Arguments {
  readonly location: string;
  /** The positionals behind the location. */
  readonly rest: readonly string[];
}

/**
 * The location: `--location`, else the first positional when it reads as one, else the environment.
 * @throws StoreError `USAGE` when there is none
 */
export function locationArguments(context: CommandContext): Arguments {
  const { positionals, env } = context;
  const flag = textFlag(context, 'location');
  if (flag !== undefined) return { location: flag, rest: positionals };
  const [first, ...rest] = positionals;
  const standIn = env[LOCATION_VARIABLE];
  if (first !== undefined && (standIn === undefined || isLocation(first))) {
    return { location: first, rest };
  }
  if (standIn !== undefined && standIn !== '') return { location: standIn, rest: positionals };
  throw new StoreError(
    'USAGE',
    'which location? give it first (file:PATH, gs://BUCKET, s3://BUCKET) or set ' +
      LOCATION_VARIABLE,
  );
}

/** Reads a location. @throws StoreError `USAGE` saying which forms there are */
export function readLocation(text: string): Location {
  try {
    return parseLocation(text);
  } catch (error) {
    throw new StoreError('USAGE', error instanceof Error ? error.message : String(error));
  }
}

/**
 * The bucket of a location, for work beside any world. Without hedging, which would make a refused
 * create look like a lost answer to the probe. The caller closes it.
 */
export function openForCommand(
  location: Location,
  options: { readonly createDirectory?: boolean; readonly observer?: Observer } = {},
): Promise<BlobStore> {
  return openBucket(location, {
    timing: systemClock,
    chance: systemRandom,
    lanes: { commit: createLimit(64), read: createLimit(64), bulk: createLimit(32) },
    hedge: false,
    ...options,
  });
}

/** Whether a text reads as a location, right or wrong in what follows. */
export function isLocation(text: string): boolean {
  return /^(model:)?(gs:\/\/|s3:\/\/|file:|memory:)/.test(text);
}
