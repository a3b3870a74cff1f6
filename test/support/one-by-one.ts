/** A bucket each of whose requests takes one ms of virtual time: time counts requests in a row. */
import type { BlobStore } from '../../blob/blob.ts';
import { type Call, type CallResult, decorate, type Send } from '../../blob/decorate.ts';
import type { Clock } from '../../bucketstore/base/clock.ts';

export function oneByOne(below: BlobStore, clock: Clock): BlobStore {
  const around = async <T extends CallResult>(_: Call, send: Send<T>): Promise<T> => {
    await clock.sleep(1);
    return send({});
  };
  return decorate(below, around);
}
