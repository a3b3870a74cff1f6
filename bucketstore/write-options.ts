/** What a write says beside what it writes, and what its answer may be taken for. */
import { StoreError } from './base/errors.ts';
import type { Random } from './base/random.ts';
import { isUuid, uuidOf } from './base/uuid.ts';
import type { MutationResult, WriteResult } from './commit/result.ts';

export interface WriteOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for an answer, ms. Default the store's `deadlineMs`. */
  readonly deadlineMs?: number | undefined;
  /**
   * What the request is known by when it is sent again: a UUID, or a caller and its own key. A
   * repeat gets the first answer. Default a random UUID.
   */
  readonly op?: string | { readonly principal: string; readonly key: string } | undefined;
}

/** The operation ID that options say, or a random one. @throws TypeError for what is no UUID */
export function operationId(op: WriteOptions['op'], random: Random): string {
  if (op === undefined) return random.uuid();
  if (typeof op === 'object') return uuidOf(JSON.stringify([op.principal, op.key]));
  if (!isUuid(op)) throw new TypeError(`op is a lower-case UUID, got ${JSON.stringify(op)}`);
  return op;
}

/**
 * The result of a write. @throws StoreError `REJECTED` when its operation was something else before
 */
export function asWrite(result: MutationResult): WriteResult {
  // Only an operation ID used for two different things gets here.
  if (!('pruned' in result)) {
    throw new StoreError(
      'REJECTED',
      `operation ${result.op} is an archive that was committed before`,
    );
  }
  return result;
}
