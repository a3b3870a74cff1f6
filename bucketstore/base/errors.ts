/**
 * The one table of codes for library, HTTP answer, exit status and outcome of a write.
 *
 * Operational failures are `StoreError`s; their `code` is stable within a major version, their
 * message is for people and may change. Wrong arguments of the program itself are `TypeError` or
 * `RangeError`, and a broken invariant of our own is `InvariantError` (`assert.ts`).
 */

export type StoreErrorCode =
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'ARCHIVED'
  | 'PATH_COLLISION'
  | 'QUOTA'
  | 'READ_ONLY'
  | 'NOT_MODIFIED'
  | 'SIZE_LIMIT'
  | 'INVALID_PATH'
  | 'INVALID_CONTENT'
  | 'INVALID_META'
  | 'POLICY_BLOCKED'
  | 'APPROVAL_REQUIRED'
  | 'INVALID_POLICY'
  | 'REJECTED'
  | 'OVERLOADED'
  | 'CLOSED'
  | 'UNAVAILABLE'
  | 'VIEW_CLOSED'
  | 'VIEW_EXPIRED'
  | 'BODY_MATCH_UNAVAILABLE'
  | 'TOO_OLD'
  | 'UNKNOWN_OUTCOME'
  | 'RESYNC'
  | 'SEALED'
  | 'INTEGRITY'
  | 'UNSUPPORTED_FORMAT'
  | 'LOCATION'
  | 'USAGE'
  | 'INTERRUPTED';

/** What a caller does about it. */
export type ErrorKind = 'retry' | 'fix-the-call' | 'resync' | 'stop';

/** What became of a write that got this error. Nothing else is ever said of a write. */
export type WriteOutcome = 'not committed' | 'nothing to commit' | 'unknown' | 'unknown for ever';

interface CodeFacts {
  readonly http: number;
  readonly exit: number;
  readonly kind: ErrorKind;
  /** `null` where no write can get it. */
  readonly outcome: WriteOutcome | null;
}

const call = (http: number): CodeFacts => ({
  http,
  exit: 1,
  kind: 'fix-the-call',
  outcome: 'not committed',
});
const later = (outcome: WriteOutcome | null): CodeFacts => ({
  http: 503,
  exit: 7,
  kind: 'retry',
  outcome,
});
const stop = (http: number, exit: number): CodeFacts => ({
  http,
  exit,
  kind: 'stop',
  outcome: 'not committed',
});

/** HTTP status, exit status, kind and outcome of every code. */
export const ERROR_CODES: { readonly [code in StoreErrorCode]: CodeFacts } = {
  NOT_FOUND: { ...call(404), exit: 3 },
  CONFLICT: call(409),
  ARCHIVED: call(409),
  PATH_COLLISION: call(409),
  QUOTA: call(403),
  READ_ONLY: call(403),
  NOT_MODIFIED: { http: 200, exit: 0, kind: 'fix-the-call', outcome: 'nothing to commit' },
  SIZE_LIMIT: call(413),
  INVALID_PATH: call(400),
  INVALID_CONTENT: call(400),
  INVALID_META: call(400),
  POLICY_BLOCKED: call(422),
  APPROVAL_REQUIRED: call(422),
  INVALID_POLICY: call(422),
  REJECTED: call(422),
  OVERLOADED: later('not committed'),
  CLOSED: later('not committed'),
  UNAVAILABLE: later('not committed'),
  VIEW_CLOSED: later(null),
  VIEW_EXPIRED: later(null),
  BODY_MATCH_UNAVAILABLE: later(null),
  TOO_OLD: { http: 410, exit: 1, kind: 'stop', outcome: 'unknown for ever' },
  UNKNOWN_OUTCOME: { http: 504, exit: 4, kind: 'retry', outcome: 'unknown' },
  RESYNC: { http: 410, exit: 1, kind: 'resync', outcome: 'not committed' },
  SEALED: { http: 410, exit: 1, kind: 'stop', outcome: 'not committed' },
  INTEGRITY: stop(500, 6),
  UNSUPPORTED_FORMAT: stop(500, 6),
  LOCATION: stop(503, 5),
  USAGE: { http: 400, exit: 2, kind: 'fix-the-call', outcome: 'not committed' },
  INTERRUPTED: { http: 499, exit: 130, kind: 'stop', outcome: 'not committed' },
};

/** Facts that a program needs and a message only tells. Which are present follows from the code. */
export interface ErrorDetails {
  /** Document path. */
  readonly path?: string;
  /** The object of an integrity error, by key. */
  readonly object?: string;
  /** UNSUPPORTED_FORMAT: the schema that was found; 1 is the old format, which `migrate` moves. */
  readonly schema?: number;
  /** CONFLICT: the document's version now; 0 when it is absent. */
  readonly currentVersion?: number;
  /** UNKNOWN_OUTCOME: what `operation(op, after)` is asked with. */
  readonly op?: string;
  readonly after?: number;
  /** RESYNC: the lowest sequence that still resumes, and the newest. */
  readonly oldest?: number;
  readonly newest?: number;
  /** SEALED: where the world went on. */
  readonly successor?: string;
  /** POLICY_BLOCKED, APPROVAL_REQUIRED: the violations in order. */
  readonly violations?: readonly string[];
  /** OVERLOADED, UNAVAILABLE: when to try again, ms. */
  readonly retryAfterMs?: number;
  /** INVALID_*: the line of a document's front matter, or the metadata key. */
  readonly line?: number;
  readonly key?: string;
}

export interface StoreErrorOptions {
  readonly details?: ErrorDetails;
  readonly cause?: unknown;
}

/** A failure that a caller can act on by its `code`. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  readonly kind: ErrorKind;
  readonly details: ErrorDetails;

  constructor(code: StoreErrorCode, message: string, options: StoreErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.kind = ERROR_CODES[code].kind;
    this.details = options.details ?? {};
  }

  /** What became of the write that got this error; null where no write can get it. */
  get outcome(): WriteOutcome | null {
    return ERROR_CODES[this.code].outcome;
  }

  toJSON(): {
    readonly code: StoreErrorCode;
    readonly message: string;
    readonly outcome: WriteOutcome | null;
    readonly details: ErrorDetails;
  } {
    return { code: this.code, message: this.message, outcome: this.outcome, details: this.details };
  }
}

/** Whether an unknown thrown value is a `StoreError`, also one of a second copy of this package. */
export function isStoreError(error: unknown): error is StoreError {
  return error instanceof Error && error.name === 'StoreError' && 'kind' in error;
}

/** An object of the world that is not what it must be. Names the object, by key. */
export function integrityError(object: string, problem: string, cause?: unknown): StoreError {
  return new StoreError('INTEGRITY', `${object}: ${problem}`, {
    details: { object },
    cause,
  });
}
