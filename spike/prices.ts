/**
 * What requests cost, by list price: storage and traffic not included. Deletes are free on both.
 *
 * S3 Standard, us-east-1: PUT, COPY, POST, LIST 0.005 USD per 1,000; GET and all other 0.0004 USD
 * per 1,000 (aws.amazon.com/s3/pricing). Google Cloud Storage, Standard, one region, flat names:
 * class A (inserts, lists) 0.005 USD per 1,000; class B (reads) 0.0004 USD per 1,000
 * (cloud.google.com/storage/pricing). Both as published in 2025; look again before relying on them.
 */
import type { BlobOperation } from '../blob/index.ts';

interface Prices {
  readonly write: number;
  readonly list: number;
  readonly read: number;
}

/** USD for 1,000 requests. */
const PER_THOUSAND: Readonly<Record<'s3' | 'gcs', Prices>> = {
  s3: { write: 0.005, list: 0.005, read: 0.0004 },
  gcs: { write: 0.005, list: 0.005, read: 0.0004 },
};

/** USD, without what is stored. */
export interface Cost {
  readonly s3: number;
  readonly gcs: number;
}

/** What these requests cost for each million of `writes`; null without a write. */
export function costPerMillion(
  requests: Readonly<Record<BlobOperation, number>>,
  writes: number,
): Cost | null {
  if (writes === 0) return null;
  const of = ({ write, list, read }: Prices): number => {
    const thousands =
      (requests.create + requests.replace) * write +
      requests.list * list +
      (requests.get + requests.head) * read;
    return ((thousands / 1000) * 1_000_000) / writes;
  };
  return { s3: of(PER_THOUSAND.s3), gcs: of(PER_THOUSAND.gcs) };
}
