/** What the store answers, as the history has it. */
import { ERROR_CODES, type StoreError } from '../../bucketstore/base/errors.ts';
import type { MutationResult } from '../../bucketstore/commit/result.ts';
import type { TakenMutation, WriteOutcome } from './history.ts';

/** What a simulated precondition throws. */
export class Unmet extends Error {
  override readonly name = 'Unmet';
}

/** A mutant's errors are of classes of its own, so they are told by their shape. */
export function isStoreFailure(error: unknown): error is StoreError {
  return (
    error instanceof Error && error.name === 'StoreError' && 'code' in error && 'details' in error
  );
}

export function takenOf(results: readonly MutationResult[]): readonly TakenMutation[] {
  return results.map(({ committed, sequence, document }) => {
    const { path, version, etag, archived } = document;
    return { path, version, etag, archived, committed, sequence };
  });
}

export function failedWrite(error: unknown): WriteOutcome {
  if (error instanceof Unmet) {
    const { message } = error;
    return { kind: 'refused', code: 'UNMET', message, currentVersion: null };
  }
  if (!isStoreFailure(error)) return { kind: 'unclear', message: String(error) };
  const { code, message, details } = error;
  switch (ERROR_CODES[code].outcome) {
    case 'not committed':
    case 'nothing to commit':
      return { kind: 'refused', code, message, currentVersion: details.currentVersion ?? null };
    case 'unknown':
      return { kind: 'unknown', after: details.after ?? -1, message };
    case 'unknown for ever':
      return { kind: 'too old' };
    case null:
      return { kind: 'unclear', message: `${code}: ${message}` };
    default:
      return { kind: 'unclear', message };
  }
}
