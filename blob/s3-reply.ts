/**
 * What a reply of S3 means for the call that got it: expected outcomes, and everything else as an
 * error.
 */
import type { Attributes } from './blob.ts';
import { answerError, decodeFault, integrityError } from './s3-errors.ts';
import { Contradiction } from './s3-objects.ts';
import type { Reply } from './s3-session.ts';

/**
 * Whether a condition of the request did not hold. A 412 of something in between has another code.
 */
export function isRefused({ answer }: Reply): boolean {
  if (answer.status !== 412) return false;
  const { code } = decodeFault(answer);
  return code === '' || code === 'PreconditionFailed';
}

/** Whether the object is absent. A 404 page of something in between has a body and no such code. */
export function isAbsent({ answer }: Reply): boolean {
  if (answer.status !== 404) return false;
  return answer.bytes.length === 0 || decodeFault(answer).code === 'NoSuchKey';
}

/**
 * The result of a write, if it was stored for certain. Without attributes: S3 does not say the
 * date.
 */
export function written<O extends 'created' | 'replaced'>(
  reply: Reply,
  outcome: O,
): { readonly outcome: O; readonly attributes?: Attributes; readonly date: number | undefined } {
  requireStatus(reply, [200]);
  refuseErrorBody(reply);
  if (reply.answer.headers['etag'] === undefined) {
    throw integrityError(reply.call, reply.exchange, 'a write was answered without an ETag');
  }
  return { outcome, date: reply.exchange.date };
}

/** @throws BlobError for any other status */
export function requireStatus(reply: Reply, statuses: readonly number[]): void {
  if (statuses.includes(reply.answer.status)) return;
  throw answerError(reply.call, reply.exchange, reply.answer);
}

/**
 * @throws BlobError for a success with an error in its body: S3 sends its status before it is done
 */
export function refuseErrorBody({ call, exchange, answer }: Reply): void {
  const { code, message } = decodeFault(answer);
  if (code === '') return;
  throw integrityError(call, exchange, `a success that carries an error (${code}: ${message})`);
}

/** Runs a decoder; what contradicts itself is an integrity error of the call. */
export function checked<T>({ call, exchange }: Reply, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof Contradiction)) throw error;
    throw integrityError(call, exchange, error.message, error);
  }
}
