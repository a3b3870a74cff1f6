/** Large stored versions, put in the bucket before the slot that names them (I8). */
import { type BlobStore, isBlobError } from '../../blob/index.ts';
import type { Clock } from '../base/clock.ts';
import { integrityError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { attemptMs } from '../log/append.ts';
import { bucketFailure } from '../log/failure.ts';

export interface StageParts {
  readonly bucket: BlobStore;
  readonly clock: Clock;
  readonly random: Random;
}

const BACKOFF_MS_MAX = 2_000;

/**
 * Makes sure that an object named after its content is in the bucket. One create when all goes
 * well. A name that is taken, or an answer that was lost, is success only when the bytes there are
 * read and are the same: a service may keep less than it was sent.
 * @throws StoreError `INTEGRITY` when other bytes have the name; `LOCATION`, `UNAVAILABLE`; the
 * signal's
 *   reason. Nothing refers to the object yet, so the write is not committed, whichever it is.
 */
export async function stage(
  { bucket, clock, random }: StageParts,
  key: string,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  const options = { signal, deadlineMs: attemptMs(bytes.byteLength), lane: 'commit' } as const;
  for (let round = 0; ; round++) {
    try {
      const { outcome } = await bucket.create(key, bytes, options);
      if (outcome === 'created') return;
    } catch (error) {
      if (!mayPass(error) || signal.aborted) throw bucketFailure(error);
    }
    try {
      const found = await bucket.get(key, options);
      if (found.found) {
        if (Buffer.compare(found.bytes, bytes) === 0) return;
        throw integrityError(key, 'holds other bytes than its name says');
      }
    } catch (error) {
      if (!mayPass(error) || signal.aborted) throw bucketFailure(error);
    }
    const ceiling = Math.min(BACKOFF_MS_MAX, 50 * 2 ** Math.min(round, 6));
    await clock.sleep(ceiling * (0.5 + random.number() / 2), { signal });
  }
}

/** Whether another attempt may do better; each member's own deadline bounds them. */
function mayPass(error: unknown): boolean {
  return isBlobError(error) && (error.retryable || error.ambiguous);
}
