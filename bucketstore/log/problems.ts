/** What verification finds: problems with objects, named up to a bound and counted beyond it. */
import { isStoreError } from '../base/errors.ts';
import { bucketFailure } from './failure.ts';

/** Something that is not as it must be, and the object (by key) where it is. */
export interface Problem {
  readonly object: string;
  readonly problem: string;
}

/** What a report names at most (I17). */
export const NAMED_MAX = 1000;

/** The problems of one verification. */
export class Problems {
  readonly #named: Problem[] = [];
  #count = 0;

  /** The first `NAMED_MAX`, in the order in which they were found. */
  get named(): readonly Problem[] {
    return this.#named;
  }

  /** All of them. */
  get count(): number {
    return this.#count;
  }

  note(object: string, problem: string): void {
    this.#count++;
    if (this.#named.length < NAMED_MAX) this.#named.push({ object, problem });
  }

  /** Notes an integrity error; anything else is no finding and is thrown. */
  noteIntegrity(error: unknown, object: string): void {
    const found = integrityProblem(error, object);
    this.note(found.object, found.problem);
  }
}

/**
 * What an integrity error says is wrong, and with which object: `object` when it names none.
 * @throws anything else, which is no finding, as a StoreError where it is one of the bucket's
 */
export function integrityProblem(error: unknown, object: string): Problem {
  const failure = bucketFailure(error);
  if (!isStoreError(failure) || failure.code !== 'INTEGRITY') throw failure;
  const named = failure.details.object ?? object;
  const prefix = `${named}: `;
  const { message } = failure;
  const at = message.indexOf(prefix);
  return { object: named, problem: at < 0 ? message : message.slice(at + prefix.length) };
}
