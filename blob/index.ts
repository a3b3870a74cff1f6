/** The bucket port, its errors and its decorators. Drivers have their own entry points. */
export {
  type Attributes,
  type BlobStore,
  type CallOptions,
  type Chance,
  type CreateResult,
  DEADLINE_MS_DEFAULT,
  type DeleteResult,
  type GetOptions,
  type GetResult,
  type HeadResult,
  type Lane,
  type ListQuery,
  type ListResult,
  type ReplaceResult,
  type Timing,
} from './blob.ts';
export { type Counter, type Counts, createCounter } from './count.ts';
export { withDeadline } from './deadline.ts';
export {
  BlobError,
  type BlobErrorCode,
  type BlobErrorInit,
  type BlobOperation,
  isBlobError,
} from './errors.ts';
export { withHedge } from './hedge.ts';
export { type LaneLimit, type Lanes, withLanes } from './lanes.ts';
export { formatLocation, type Location, parseLocation } from './location.ts';
export { type LatencyModelName, withLatencyModel } from './model.ts';
export { type Observer, type RequestEvent, withObserver } from './observe.ts';
export { decorateBucket, type OpenBucketOptions, openBucket, openDriver } from './open.ts';
export { assertUsable, type Guarantee, type ProbeReport, probe } from './probe.ts';
export { probeReportLines } from './probe-report.ts';
export { RETRY_POLICY_DEFAULT, type RetryPolicy, withRetry } from './retry.ts';
