/**
 * Retries. The top of the stack: one call here is what the caller asked for, and it may become
 * several attempts below. It owns the total deadline: each attempt is given what is left of it.
 *
 * Only failures that leave the bucket as it was, or calls that may be repeated without harm, are
 * repeated. An ambiguous create or replace is thrown on as it is: a repeat would meet our own
 * object and report "exists", which turns a success into a loss. Whoever knows the bytes reads the
 * name back.
 */
import { type BlobStore, type Chance, DEADLINE_MS_DEFAULT, type Timing } from './blob.ts';
import { type Call, type CallResult, decorate, type Send } from './decorate.ts';
import { BlobError, isBlobError } from './errors.ts';
import { abortedError } from './signal.ts';

export interface RetryPolicy {
  /** Attempts of one call, the first included. */
  readonly attemptsMax: number;
  /** Longest wait before the second attempt, ms; doubles for each one after. */
  readonly baseMs: number;
  /** No wait is longer, ms, unless the service asks for it. */
  readonly capMs: number;
}

export const RETRY_POLICY_DEFAULT: RetryPolicy = { attemptsMax: 5, baseMs: 50, capMs: 2_000 };

export interface RetryOptions {
  readonly timing: Timing;
  readonly chance: Chance;
  readonly policy?: RetryPolicy | undefined;
}

/**
 * `store` with failed calls repeated within their deadline, after waits with full jitter (uniform
 * between 0 and the exponential limit), and no sooner than the service asked.
 *
 * - get, head, list and delete are repeated when the error is retryable.
 * - create and replace are repeated when the error is retryable and **not** ambiguous.
 *
 * The last error is thrown when attempts or time run out (a wait that would pass the deadline is
 * not begun). A single damaged answer is then `unavailable`, not `integrity`: that takes two. A
 * delete is ambiguous when any of its attempts was. An abort while waiting is `aborted`. Costs at
 * most `attemptsMax` attempts.
 */
export function withRetry(store: BlobStore, options: RetryOptions): BlobStore {
  const { timing, chance, policy = RETRY_POLICY_DEFAULT } = options;
  return decorate(store, (call, send) => repeated(timing, chance, policy, call, send));
}

async function repeated<T extends CallResult>(
  timing: Timing,
  chance: Chance,
  policy: RetryPolicy,
  call: Call,
  send: Send<T>,
): Promise<T> {
  const { signal, deadlineMs = DEADLINE_MS_DEFAULT } = call.options;
  const startedMs = timing.monotonic();
  let leftMs = deadlineMs;
  let ambiguous = false;
  let damaged = 0;
  for (let attempt = 1; ; attempt++) {
    let failure: BlobError;
    try {
      return await send({ deadlineMs: leftMs });
    } catch (error) {
      if (!isBlobError(error)) throw error;
      ambiguous ||= error.ambiguous;
      failure = ambiguous && !error.ambiguous ? stillAmbiguous(error) : error;
      if (error.code === 'integrity') damaged += 1;
    }
    if (!mayRepeat(failure)) throw failure;
    const waitMs = waitBefore(attempt, policy, chance, failure.retryAfterMs);
    const restMs = deadlineMs - (timing.monotonic() - startedMs);
    if (attempt >= policy.attemptsMax || waitMs >= restMs) {
      throw damaged === 1 ? readOnce(failure) : failure;
    }
    try {
      await timing.sleep(waitMs, { signal });
    } catch {
      throw abortedError(call.operation, call.key, signal?.reason, ambiguous);
    }
    leftMs = deadlineMs - (timing.monotonic() - startedMs);
  }
}

function mayRepeat(error: BlobError): boolean {
  switch (error.operation) {
    case 'create':
    case 'replace':
      return error.retryable && !error.ambiguous;
    case 'get':
    case 'head':
    case 'list':
    case 'delete':
      return error.retryable;
    default:
      error.operation satisfies never;
      return false;
  }
}

/**
 * Full jitter on top of what the service asked for, so that its clients do not all come back at
 * once.
 */
function waitBefore(
  attempt: number,
  policy: RetryPolicy,
  chance: Chance,
  retryAfterMs: number | undefined,
): number {
  const limitMs = Math.min(policy.capMs, policy.baseMs * 2 ** (attempt - 1));
  return (retryAfterMs ?? 0) + chance.number() * limitMs;
}

/**
 * A body that came damaged may be damaged where it lies, or was on its way: another read tells.
 * When none has come whole or damaged again, nothing may be said of the object.
 */
function readOnce(error: BlobError): BlobError {
  if (error.code !== 'integrity') return error;
  const { operation, key, message, ambiguous, date } = error;
  return new BlobError({
    code: 'unavailable',
    operation,
    key,
    message: `${message}; no other answer came`,
    ambiguous,
    date,
    cause: error,
  });
}

/** A later refusal does not settle what an earlier attempt of the same call may have done. */
function stillAmbiguous(error: BlobError): BlobError {
  return new BlobError({
    code: error.code,
    operation: error.operation,
    key: error.key,
    message: 'failed after an earlier attempt whose outcome is unknown',
    retryable: error.retryable,
    ambiguous: true,
    date: error.date,
    retryAfterMs: error.retryAfterMs,
    cause: error,
  });
}
