/** The public face of the store. */

export { type Clock, systemClock } from './base/clock.ts';
export type { LogFields, Logger } from './base/diagnostics.ts';
export {
  ERROR_CODES,
  type ErrorDetails,
  type ErrorKind,
  isStoreError,
  StoreError,
  type StoreErrorCode,
  type WriteOutcome,
} from './base/errors.ts';
export { type Random, systemRandom } from './base/random.ts';
export type { Sequence } from './base/sequence.ts';
export type {
  AppendRequest,
  ArchivePrepared,
  ArchiveRequest,
  Expected,
  MutationRequest,
  Precondition,
  PreparedWrite,
  PublishRequest,
} from './commit/mutation.ts';
export type { ArchiveResult, MutationResult, WriteResult } from './commit/result.ts';
export type { Metadata } from './document/metadata.ts';
export type { LogEntry } from './entries.ts';
export type { Entry } from './log/records.ts';
export { openWorld } from './open.ts';
export type { Components, OpenOptions, Settings } from './options.ts';
export {
  LATENCIES_LOCAL,
  LATENCIES_NEAR,
  type Latencies,
  migrationMs,
  type Schema1Cost,
  type Schema1Counts,
  type Schema1Facts,
  type Schema1Kind,
  type Schema1Objects,
  type Schema1Report,
  type Schema1Requests,
  type Schema1Told,
  type StatSchema1Options,
  statSchema1,
  type VerifySchema1Options,
  verifySchema1,
} from './schema1.ts';
export type { ListQuery } from './snapshot/listing.ts';
export type {
  Document,
  DocumentInfo,
  GetOptions,
  StateReader,
  VersionInfo,
} from './snapshot/reader.ts';
export type { ListEntry } from './snapshot/state.ts';
export { type StatWorldOptions, statWorld, type WorldFacts } from './stat.ts';
export {
  type Problem,
  type VerifyCounts,
  type VerifyOptions,
  type VerifyReport,
  verifyWorld,
} from './verify.ts';
export type { View } from './view.ts';
export type { CloseOptions, World, WorldStat } from './world.ts';
export type { WriteOptions } from './write-options.ts';
