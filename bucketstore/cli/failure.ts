/** What became of the changes that a command asked for, when it fails. */
import {
  isStoreError,
  StoreError,
  type StoreErrorCode,
  type WriteOutcome,
} from '../base/errors.ts';
import { bucketFailure } from '../log/failure.ts';
import type { GenesisObserver } from './genesis-observer.ts';

/**
 * A failure after some of the changes: the message begins with what became of them. `outcome` is
 * *unknown* when that is so of any, else null, since one word would be false of some.
 */
class PartialError extends StoreError {
  constructor(code: StoreErrorCode, words: string, cause: StoreError) {
    super(code, `${words}: ${cause.message}`, { cause, details: cause.details });
  }

  override get outcome(): WriteOutcome | null {
    return this.code === 'UNKNOWN_OUTCOME' ? 'unknown' : null;
  }
}

/** Anything that is no answer of the store is a defect, and said as one. */
export function storeErrorOf(error: unknown): StoreError {
  const failure = bucketFailure(error);
  if (isStoreError(failure)) return failure;
  if (failure instanceof RangeError || failure instanceof TypeError) {
    return new StoreError('USAGE', failure.message, { cause: failure });
  }
  const problem = failure instanceof Error ? (failure.stack ?? failure.message) : String(failure);
  return new StoreError('INTEGRITY', `a defect of bucketstore, please report it: ${problem}`);
}

/** The failure of a command that makes a world where there is none, before anything else. */
export function genesisFailure(error: unknown, genesis: GenesisObserver): StoreError {
  const failure = storeErrorOf(error);
  const fate = genesis.fate();
  switch (fate) {
    case 'settled':
      return failure;
    case 'created':
      return new PartialError(failure.code, 'the world is made', failure);
    case 'open':
      return new StoreError(
        'UNKNOWN_OUTCOME',
        'unknown: the create of the world’s marker was sent and has no answer; run it again, ' +
          `which finds out (${failure.message})`,
        { cause: failure },
      );
    default:
      return fate satisfies never;
  }
}

/** Files by what became of them; of all others it is known that they are not committed. */
export interface ImportedCounts {
  readonly committed: number;
  readonly unknown: number;
}

/** The failure of an import that has sent some of its files. */
export function importFailure(error: unknown, { committed, unknown }: ImportedCounts): StoreError {
  const failure = storeErrorOf(error);
  const rest = `committed ${files(committed)}, not committed the rest`;
  if (unknown > 0) {
    return new PartialError('UNKNOWN_OUTCOME', `unknown ${files(unknown)}, ${rest}`, failure);
  }
  return committed === 0 ? failure : new PartialError(failure.code, rest, failure);
}

function files(count: number): string {
  return `${count} ${count === 1 ? 'file' : 'files'}`;
}
