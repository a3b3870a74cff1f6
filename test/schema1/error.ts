/** What the old store fails with. */

/**
 * | code | means |
 * |---|---|
 * | `not-found` | no such world or document |
 * | `precondition` | the head is of another world, or the location is no empty one |
 * | `integrity` | an object is missing, damaged, or not of this format |
 * | `conflict` | the document has another version than was expected |
 * | `archived` | a write to an archived document |
 * | `collision` | the path lies under a document, or documents lie under it |
 * | `invalid` | the request itself |
 * | `evicted` | nobody can tell any more whether a commit took effect |
 * | `exhausted` | too many attempts lost |
 */
export type OldStoreCode =
  | 'not-found'
  | 'precondition'
  | 'integrity'
  | 'conflict'
  | 'archived'
  | 'collision'
  | 'invalid'
  | 'evicted'
  | 'exhausted';

export class OldStoreError extends Error {
  override readonly name = 'OldStoreError';
  readonly code: OldStoreCode;
  /** The key or the path that it is about. */
  readonly object: string;

  constructor(code: OldStoreCode, object: string, problem: string, cause?: unknown) {
    super(`${object}: ${problem}`, { cause });
    this.code = code;
    this.object = object;
  }
}

/** Throws `integrity` unless `condition` holds. */
export function demand(condition: boolean, object: string, problem: string): asserts condition {
  if (!condition) throw new OldStoreError('integrity', object, problem);
}
