/**
 * What the answers of S3 say about objects, and whether their bytes are what they say.
 *
 * `generation` is `<ETag without quotes>@<modified, seconds>`, the same from get, head and list.
 * Equal generations mean equal bytes, and the same object unless it was deleted and created again
 * with the same bytes within one second; different generations mean that the object was replaced or
 * created again. S3 can condition a write on the ETag part only, which for most objects is the MD5
 * of their bytes.
 */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Attributes } from './blob.ts';
import { type ContentRange, parseContentRange } from './http-headers.ts';
import type { Answer } from './s3-exchange.ts';

/** What a service said and did not keep to; the message says which. */
export class Contradiction extends Error {
  override readonly name = 'Contradiction';
}

/** The attributes in the headers of a get or head. @throws Contradiction when one is missing */
export function decodeAttributes(key: string, { headers, status }: Answer): Attributes {
  const etag = headers['etag'];
  const modifiedMs = Date.parse(headers['last-modified'] ?? '');
  const length = status === 206 ? contentRange(headers).size : Number(headers['content-length']);
  if (etag === undefined || etag === '') throw new Contradiction('an answer without an ETag');
  if (Number.isNaN(modifiedMs)) throw new Contradiction('an answer without Last-Modified');
  if (!Number.isSafeInteger(length)) throw new Contradiction('an answer without a length');
  return makeAttributes(key, etag, length, modifiedMs);
}

/** @param modifiedMs cut to the second, which is all that a head says */
export function makeAttributes(
  key: string,
  etag: string,
  size: number,
  modifiedMs: number,
): Attributes {
  const seconds = Math.floor(modifiedMs / 1000);
  return { key, generation: `${unquote(etag)}@${seconds}`, size, modifiedMs: seconds * 1000 };
}

/** The ETag part of a generation, without quotes. */
export function etagOf(generation: string): string {
  const at = generation.lastIndexOf('@');
  return at < 0 ? generation : generation.slice(0, at);
}

/**
 * Checks the bytes of a get, and cuts them to the range that was asked for when the service sent
 * all.
 * @throws Contradiction when length, range or checksum disagree
 */
export function verifiedBytes(
  answer: Answer,
  range: readonly [start: number, endExclusive: number] | undefined,
): Uint8Array {
  const { status, headers, bytes } = answer;
  if (status !== 206) {
    const proved = checkWhole(answer);
    if (!proved && headers['content-length'] === undefined) {
      throw new Contradiction('a body with neither a length nor a checksum');
    }
    return range === undefined ? bytes : bytes.subarray(...range);
  }
  if (range === undefined) throw new Contradiction('a part of an object that was asked for whole');
  const { range: sent, size } = contentRange(headers);
  const end = Math.min(range[1], size);
  if (sent[0] !== range[0] || sent[1] !== end || bytes.length !== end - range[0]) {
    throw new Contradiction(
      `bytes ${sent[0]} to ${sent[1]} where ${range[0]} to ${end} were asked for`,
    );
  }
  if (sent[0] === 0 && sent[1] === size) checkWhole(answer);
  return bytes;
}

/** MD5 in base64, for Content-MD5: the one checksum that every S3 server checks. */
export function md5Base64(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('base64');
}

type Checksum = (bytes: Uint8Array) => string;

const CHECKSUMS: Readonly<Record<string, Checksum>> = {
  'x-amz-checksum-crc32': (bytes) => {
    const value = Buffer.alloc(4);
    value.writeUInt32BE(crc32(bytes));
    return value.toString('base64');
  },
  'x-amz-checksum-sha1': (bytes) => createHash('sha1').update(bytes).digest('base64'),
  'x-amz-checksum-sha256': (bytes) => createHash('sha256').update(bytes).digest('base64'),
};

/**
 * Whether something proved the bytes of a whole object. A composite checksum (`…-2`) is of its
 * parts.
 */
function checkWhole({ headers, bytes }: Answer): boolean {
  for (const [name, checksum] of Object.entries(CHECKSUMS)) {
    const expected = headers[name];
    if (expected === undefined || expected.includes('-')) continue;
    if (checksum(bytes) !== expected) throw new Contradiction(`bytes do not match their ${name}`);
    return true;
  }
  const etag = unquote(headers['etag'] ?? '');
  if (!/^[0-9a-f]{32}$/.test(etag) || isEncrypted(headers)) return false;
  if (createHash('md5').update(bytes).digest('hex') !== etag) {
    throw new Contradiction('bytes do not match their ETag');
  }
  return true;
}

/** Where the ETag is no MD5, though it looks like one. */
function isEncrypted(headers: Readonly<Record<string, string>>): boolean {
  return (
    headers['x-amz-server-side-encryption']?.startsWith('aws:') === true ||
    headers['x-amz-server-side-encryption-customer-algorithm'] !== undefined
  );
}

function contentRange(headers: Readonly<Record<string, string>>): ContentRange {
  const part = parseContentRange(headers['content-range']);
  if (part === null) throw new Contradiction('a part of an object without a Content-Range');
  return part;
}

function unquote(etag: string): string {
  return etag.replace(/^"|"$/g, '');
}
