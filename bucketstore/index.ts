/** The public face of the store. */
export { type Clock, systemClock } from './base/clock.ts';
export type { Logger } from './base/diagnostics.ts';
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
