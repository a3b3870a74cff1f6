/** As much of S3 as the driver asks: objects in a map, conditions, ranges, lists in byte order. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { compareUtf8 } from '../../bucketstore/base/order.ts';

export interface StoredObject {
  readonly bytes: Buffer;
  readonly modifiedMs: number;
}

export interface FaultRequest {
  readonly method: string;
  /** The object's key; empty for a list. */
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface S3Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Headers only, of a body that is announced. */
  readonly head?: boolean;
}

/** Reads a path-style request: `/bucket/key`. */
export function parseRequest(request: IncomingMessage, body: Buffer): FaultRequest {
  const url = new URL(request.url ?? '/', 'http://host');
  const [, , ...segments] = url.pathname.split('/');
  return {
    method: request.method ?? '',
    key: decodeURIComponent(segments.join('/')),
    query: url.searchParams,
    headers: request.headers,
    body,
  };
}

/**
 * Applies a request and answers it. Every object was modified at one moment: tests need no other.
 */
export function answerS3(objects: Map<string, StoredObject>, request: FaultRequest): S3Answer {
  switch (request.method) {
    case 'PUT':
      return put(objects, request);
    case 'GET':
      return request.key === '' ? list(objects, request.query) : get(objects, request);
    case 'HEAD':
      return { ...get(objects, request), head: true };
    case 'DELETE':
      objects.delete(request.key);
      return { status: 204, headers: {}, body: Buffer.alloc(0) };
    default:
      return errorXml(405, 'MethodNotAllowed', request.method);
  }
}

export function errorXml(status: number, code: string, message: string): S3Answer {
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  const body = Buffer.from(status === 304 ? '' : text);
  return { status, headers: { 'Content-Type': 'application/xml' }, body };
}

const MODIFIED_MS = 1_700_000_000_000;

function put(objects: Map<string, StoredObject>, { key, headers, body }: FaultRequest): S3Answer {
  const held = objects.get(key);
  const md5 = headers['content-md5'];
  if (md5 !== undefined && md5 !== createHash('md5').update(body).digest('base64')) {
    return errorXml(400, 'BadDigest', 'The Content-MD5 you specified did not match.');
  }
  if (headers['if-none-match'] === '*' && held !== undefined) return refused();
  const match = headers['if-match'];
  if (match !== undefined && (held === undefined || etagOf(held) !== `"${match}"`))
    return refused();
  const stored = { bytes: body, modifiedMs: MODIFIED_MS };
  objects.set(key, stored);
  return { status: 200, headers: { ETag: etagOf(stored) }, body: Buffer.alloc(0) };
}

function refused(): S3Answer {
  return errorXml(412, 'PreconditionFailed', 'A condition did not hold.');
}

function get(objects: Map<string, StoredObject>, { key, headers }: FaultRequest): S3Answer {
  const held = objects.get(key);
  if (held === undefined) return errorXml(404, 'NoSuchKey', 'The key does not exist.');
  const size = held.bytes.length;
  const common = { ETag: etagOf(held), 'Last-Modified': new Date(held.modifiedMs).toUTCString() };
  const range = /^bytes=(\d+)-(\d+)$/.exec(headers['range'] ?? '');
  if (range === null) {
    return {
      status: 200,
      headers: { ...common, 'Content-Length': String(size) },
      body: held.bytes,
    };
  }
  const start = Number(range[1]);
  const end = Math.min(Number(range[2]) + 1, size);
  if (start >= size) return errorXml(416, 'InvalidRange', 'The range is not satisfiable.');
  const part = { ...common, 'Content-Range': `bytes ${start}-${end - 1}/${size}` };
  return { status: 206, headers: part, body: held.bytes.subarray(start, end) };
}

function list(objects: Map<string, StoredObject>, query: URLSearchParams): S3Answer {
  const after = query.get('start-after') ?? '';
  const limit = Number(query.get('max-keys') ?? 1000);
  const keys = [...objects.keys()]
    .filter((key) => key.startsWith(query.get('prefix') ?? ''))
    .filter((key) => after === '' || compareUtf8(key, after) > 0)
    .toSorted(compareUtf8);
  const contents = keys.slice(0, limit).map((key) => contentsXml(key, objects.get(key)));
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult><IsTruncated>${keys.length > limit}</IsTruncated>${contents.join('')}
</ListBucketResult>`;
  return { status: 200, headers: { 'Content-Type': 'application/xml' }, body: Buffer.from(text) };
}

function contentsXml(key: string, object: StoredObject | undefined): string {
  if (object === undefined) return '';
  const escaped = key.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const modified = new Date(object.modifiedMs).toISOString();
  const etag = etagOf(object).replaceAll('"', '&quot;');
  return `<Contents><Key>${escaped}</Key><LastModified>${modified}</LastModified>\
<ETag>${etag}</ETag><Size>${object.bytes.length}</Size></Contents>`;
}

function etagOf({ bytes }: StoredObject): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}
