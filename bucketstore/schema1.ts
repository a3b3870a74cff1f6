/** Worlds of schema 1, the old format: looked at, and not changed. */
import type { Schema1Facts, Schema1Report } from '../migrate/schema1-report.ts';
import { type Schema1StatOptions, statSchema1Bucket } from '../migrate/schema1-stat.ts';
import { type Schema1VerifyOptions, verifySchema1Bucket } from '../migrate/schema1-verify.ts';
import { type Opening, withBucket } from './with-bucket.ts';

export {
  LATENCIES_LOCAL,
  LATENCIES_NEAR,
  type Latencies,
  migrationMs,
  type Schema1Cost,
  type Schema1Requests,
} from '../migrate/schema1-cost.ts';
export type { Schema1Kind } from '../migrate/schema1-listing.ts';
export type {
  Schema1Counts,
  Schema1Facts,
  Schema1Objects,
  Schema1Report,
  Schema1Told,
} from '../migrate/schema1-report.ts';

export interface VerifySchema1Options extends Opening, Schema1VerifyOptions {}

export interface StatSchema1Options extends Opening, Schema1StatOptions {}

/**
 * Reads a world of schema 1 whole and says what is wrong with it. Writes nothing, and is safe
 * beside old servers that go on writing: it is of the state that was current when it began.
 * Requests and memory as `verifySchema1Bucket` says.
 * @throws StoreError `NOT_FOUND` when no world is there; `UNSUPPORTED_FORMAT` when it is of another
 *   schema (`details.schema`: 2 is for `verifyWorld`); `LOCATION`, also for another world than
 *   `worldId`; `UNAVAILABLE`. What is wrong with the world itself is not thrown
 */
export async function verifySchema1(
  location: string,
  options: VerifySchema1Options = {},
): Promise<Schema1Report> {
  return withBucket(location, options, (bucket) => verifySchema1Bucket(bucket, options));
}

/**
 * What a world of schema 1 is, and what moving it takes, from its head, its root, its shards and
 * one listing. Requests as `statSchema1Bucket` says.
 * @throws StoreError as `verifySchema1`
 */
export async function statSchema1(
  location: string,
  options: StatSchema1Options = {},
): Promise<Schema1Facts> {
  return withBucket(location, options, (bucket) => statSchema1Bucket(bucket, options));
}
