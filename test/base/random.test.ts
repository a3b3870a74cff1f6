/**
 * Goal: the identities of the machine are UUIDs of version 4, each another.
 * Method: more of them than are drawn at once, by their spelling and as a set; each free bit is
 * sometimes set and sometimes not.
 */
import { expect, test } from 'vitest';
import { systemRandom } from '../../bucketstore/base/random.ts';

const COUNT = 2_000;
const VERSION_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Of 128 bits the version takes four and the variant two. */
const FREE_BITS = 122;

test('`systemRandom.uuid()` is a version 4 UUID, and never the same', () => {
  const uuids = Array.from({ length: COUNT }, () => systemRandom.uuid());
  for (const uuid of uuids) expect(uuid).toMatch(VERSION_4);
  expect(new Set(uuids).size).toBe(COUNT);
});

test('`systemRandom.uuid()` leaves no free bit as it is', () => {
  const seen = new Uint8Array(32);
  const missing = new Uint8Array(32);
  for (let i = 0; i < COUNT; i++) {
    const digits = systemRandom.uuid().replaceAll('-', '');
    for (let at = 0; at < digits.length; at++) {
      const digit = Number.parseInt(digits.charAt(at), 16);
      seen[at] = (seen[at] ?? 0) | digit;
      missing[at] = (missing[at] ?? 0) | (~digit & 0xf);
    }
  }
  let free = 0;
  for (let at = 0; at < seen.length; at++) {
    const both = (seen[at] ?? 0) & (missing[at] ?? 0);
    free += both.toString(2).replaceAll('0', '').length;
  }
  expect(free).toBe(FREE_BITS);
});
