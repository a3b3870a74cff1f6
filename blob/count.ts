/**
 * Counting of requests and bytes: the basis of every cost figure. An observer, see `observe.ts`.
 */
import type { BlobErrorCode, BlobOperation } from './errors.ts';
import type { Observer, RequestEvent } from './observe.ts';

/** Sums since the start or the last `reset()`. Plain data, safe to keep and to print as JSON. */
export interface Counts {
  /** Requests by kind; hedges and repeated attempts each count. */
  readonly requests: Readonly<Record<BlobOperation, number>>;
  /** Sum of `requests`. */
  readonly requestsTotal: number;
  /** Object bytes received and sent. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Failed requests by code; only codes that were met. `unknown` is an error of another kind. */
  readonly errors: Readonly<Partial<Record<BlobErrorCode | 'unknown', number>>>;
  /** Requests whose caller gave up before an answer came. */
  readonly abandoned: number;
}

export interface Counter extends Observer {
  /** A copy of the sums now. */
  snapshot(): Counts;
  /** Back to zero. */
  reset(): void;
}

/** An observer that counts. Its memory does not depend on what it counts. */
export function createCounter(): Counter {
  let sums = zero();
  return {
    observe(event: RequestEvent): void {
      sums.requests[event.operation]++;
      sums.bytesIn += event.bytesIn;
      sums.bytesOut += event.bytesOut;
      if (event.outcome === 'abandoned') sums.abandoned++;
      if (event.outcome !== 'failed') return;
      const code = event.code ?? 'unknown';
      sums.errors[code] = (sums.errors[code] ?? 0) + 1;
    },
    snapshot(): Counts {
      const { requests, errors, bytesIn, bytesOut, abandoned } = sums;
      const requestsTotal = Object.values(requests).reduce((sum, n) => sum + n, 0);
      const copies = { requests: { ...requests }, errors: { ...errors } };
      return { ...copies, requestsTotal, bytesIn, bytesOut, abandoned };
    },
    reset(): void {
      sums = zero();
    },
  };
}

interface Sums {
  requests: Record<BlobOperation, number>;
  errors: Partial<Record<BlobErrorCode | 'unknown', number>>;
  bytesIn: number;
  bytesOut: number;
  abandoned: number;
}

function zero(): Sums {
  const requests = { create: 0, replace: 0, get: 0, head: 0, list: 0, delete: 0 };
  return { requests, errors: {}, bytesIn: 0, bytesOut: 0, abandoned: 0 };
}
