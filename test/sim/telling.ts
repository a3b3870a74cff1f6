/**
 * From what a caller is told to the `BlobError` that the drivers throw for it: codes and flags as
 * their tables of statuses have them (a 409 as S3's conflict).
 */
import { BlobError, type BlobErrorInit, type BlobOperation, isWrite } from '../../blob/errors.ts';
import type { Telling } from './faults.ts';

/** What is told by an error. `429`: the limit of one name. */
export type ToldError = Exclude<Telling, 'silence'> | '429';

/**
 * The error a call fails with. @param date the server's clock where the news comes from the server;
 * a connection that broke or never was brings none
 */
export function toldError(
  operation: BlobOperation,
  key: string,
  told: ToldError,
  date: number,
  retryAfterMs: number | null,
): BlobError {
  const ambiguous = isWrite(operation);
  const fail = (init: Pick<BlobErrorInit, 'code' | 'message' | 'date' | 'retryAfterMs'>) =>
    new BlobError({ operation, key, ambiguous, ...init });
  const wait = retryAfterMs ?? undefined;
  switch (told) {
    case 'reset':
      return fail({ code: 'unavailable', message: 'simulated: the connection broke' });
    case 'refused': {
      const message = 'simulated: no connection; nothing was sent';
      return new BlobError({ operation, key, code: 'unavailable', message });
    }
    case '503':
      return fail({ code: 'unavailable', message: 'simulated: status 503', date });
    case 'slow down': {
      const message = 'simulated: status 503, slow down';
      return fail({ code: 'throttled', message, date, retryAfterMs: wait });
    }
    case '429':
      return fail({
        code: 'throttled',
        message: 'simulated: status 429',
        date,
        retryAfterMs: wait,
      });
    case '409':
      return fail({ code: 'unavailable', message: 'simulated: status 409', date });
    case 'short read':
      return fail({ code: 'integrity', message: 'simulated: the answer was cut short', date });
  }
}
