// Goal: the checksum that GCS verifies is the published one.
// Method: values that are known from elsewhere, at several lengths and alignments.
import { expect, test } from 'vitest';
import { crc32c, crc32cBase64 } from '../../blob/gcs-crc32c.ts';
import { bytesOf } from '../contract/blob-case.ts';

test('CRC32C has the published check value, at any alignment and length', () => {
  expect(crc32c(bytesOf('123456789'))).toBe(0xe3069283);
  expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
  expect(crc32c(new Uint8Array(0))).toBe(0);
  const text = bytesOf('__123456789');
  expect(crc32cBase64(text.subarray(2))).toBe('4waSgw==');
});
