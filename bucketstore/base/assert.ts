/** Assertions are for our own mistakes; errors (`errors.ts`) are for the world. */

/** A broken invariant: the world that sees it closes and answers no further write. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/**
 * Throws `InvariantError` with `message` unless `condition` holds. Give the values in the message.
 */
export function assert(condition: boolean, message: string | (() => string)): asserts condition {
  if (!condition) throw new InvariantError(typeof message === 'string' ? message : message());
}

/** The end of an exhaustive switch: does not compile while a case is missing. */
export function assertNever(value: never): never {
  throw new InvariantError(`unexpected value: ${JSON.stringify(value)}`);
}
