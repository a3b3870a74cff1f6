/**
 * The JSON API on the wire: addresses, the multipart upload, and what answers say about objects.
 * Pure; a decoder that finds less than it needs throws `TypeError`, which the driver reports as
 * `integrity`.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Attributes } from './blob.ts';
import { crc32cBase64 } from './gcs-crc32c.ts';
import { parseContentRange } from './http-headers.ts';

const OBJECT_FIELDS = 'name,generation,size,updated,crc32c';

/** What one object looks like in a JSON answer. */
export interface WireObject {
  readonly attributes: Attributes;
  readonly crc32c: string | undefined;
}

/** Builds the addresses of one bucket. `name`s are whole object names, prefix included. */
export class GcsAddresses {
  readonly #endpoint: string;
  readonly #bucket: string;

  constructor(endpoint: string, bucket: string) {
    this.#endpoint = endpoint.replace(/\/+$/, '');
    this.#bucket = encodeURIComponent(bucket);
  }

  object(name: string): string {
    return `${this.#objects()}/${encodeURIComponent(name)}`;
  }

  metadata(name: string): string {
    return `${this.object(name)}?fields=${OBJECT_FIELDS}`;
  }

  media(name: string): string {
    return `${this.object(name)}?alt=media`;
  }

  /** A multipart upload is one request and carries the checksum; resumable ones take two. */
  upload(name: string, generation: string): string {
    const query = new URLSearchParams({
      uploadType: 'multipart',
      name,
      ifGenerationMatch: generation,
      fields: OBJECT_FIELDS,
    });
    return `${this.#endpoint}/upload/storage/v1/b/${this.#bucket}/o?${query}`;
  }

  list(prefix: string, startOffset: string | undefined, maxResults: number, token = ''): string {
    const query = new URLSearchParams({ maxResults: String(maxResults) });
    query.set('fields', 'items(name,generation,size,updated),nextPageToken');
    if (prefix !== '') query.set('prefix', prefix);
    if (startOffset !== undefined) query.set('startOffset', startOffset);
    if (token !== '') query.set('pageToken', token);
    return `${this.#objects()}?${query}`;
  }

  #objects(): string {
    return `${this.#endpoint}/storage/v1/b/${this.#bucket}/o`;
  }
}

/**
 * The two parts of an upload in one buffer. The checksum makes the service refuse bytes that
 * changed on the way; `no-store` keeps a public bucket's caches (one hour by default) from
 * breaking strong reads.
 */
export function multipartBody(
  name: string,
  bytes: Uint8Array,
): { readonly contentType: string; readonly body: Uint8Array; readonly crc32c: string } {
  const crc32c = crc32cBase64(bytes);
  const contentType = 'application/octet-stream';
  const boundary = boundaryFor(bytes);
  const metadata = JSON.stringify({ name, contentType, cacheControl: 'no-store', crc32c });
  const head =
    `--${boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n${metadata}\r\n` +
    `--${boundary}\r\nContent-Type: ${contentType}\r\n\r\n`;
  return {
    contentType: `multipart/related; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    crc32c,
  };
}

/** A line that the bytes do not hold, whoever chose them. */
function boundaryFor(bytes: Uint8Array): string {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let boundary = 'bucketstore-part';
  for (let i = 0; view.includes(boundary); i++) boundary = `bucketstore-part-${i}`;
  return boundary;
}

/** Reads one object of a JSON answer; its key is the whole name. */
export function decodeObject(value: unknown): WireObject {
  const name = text(value, 'name');
  const size = wholeNumber(text(value, 'size'), 'size');
  const generation = text(value, 'generation');
  const modifiedMs = instant(text(value, 'updated'));
  const crc32c = field(value, 'crc32c');
  return {
    attributes: { key: name, generation, size, modifiedMs },
    crc32c: typeof crc32c === 'string' ? crc32c : undefined,
  };
}

/** Reads one page of a list; keys are whole names. */
export function decodePage(bytes: Uint8Array): {
  readonly objects: readonly Attributes[];
  readonly pageToken: string | undefined;
} {
  const value = decodeJson(bytes);
  const items = field(value, 'items') ?? [];
  if (!Array.isArray(items)) throw new TypeError('items is no array');
  const token = field(value, 'nextPageToken');
  return {
    objects: items.map((item: unknown) => decodeObject(item).attributes),
    pageToken: typeof token === 'string' && token !== '' ? token : undefined,
  };
}

/** Parses a JSON answer. */
export function decodeJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new TypeError('the answer is not JSON', { cause });
  }
}

/** Reads what the headers of a download say: size of the whole object, checksum, range served. */
export function decodeMedia(key: string, headers: IncomingHttpHeaders): MediaHead {
  const part = parseContentRange(headers['content-range']);
  const size = one(headers['x-goog-stored-content-length']) ?? headers['content-length'];
  const generation = one(headers['x-goog-generation']);
  if (generation === undefined) throw new TypeError('no x-goog-generation');
  const crc32c = /(?:^|[ ,])crc32c=([^, ]+)/.exec(one(headers['x-goog-hash']) ?? '')?.[1];
  const modified = headers['last-modified'] ?? headers.date;
  return {
    attributes: {
      key,
      generation,
      size: part?.size ?? wholeNumber(size, 'size'),
      modifiedMs: modified === undefined ? 0 : instant(modified),
    },
    crc32c,
    range: part?.range,
  };
}

export interface MediaHead extends WireObject {
  readonly range: readonly [start: number, endExclusive: number] | undefined;
}

/** What an error answer says, for people, and its machine-readable reason where there is one. */
export function decodeError(bytes: Uint8Array): {
  readonly message: string | undefined;
  readonly reason: string | undefined;
} {
  let error: unknown;
  try {
    error = field(decodeJson(bytes), 'error');
  } catch {
    return { message: undefined, reason: undefined };
  }
  const message = field(error, 'message');
  const errors = field(error, 'errors');
  const reason = Array.isArray(errors) ? field(errors[0], 'reason') : undefined;
  return {
    message: typeof message === 'string' ? message.slice(0, 300) : undefined,
    reason: typeof reason === 'string' ? reason : undefined,
  };
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

function text(value: unknown, name: string): string {
  const found = field(value, name);
  if (typeof found !== 'string' || found === '') throw new TypeError(`no ${name} in the answer`);
  return found;
}

function wholeNumber(value: string | undefined, what: string): number {
  if (value === undefined || !/^\d{1,15}$/.test(value)) throw new TypeError(`${what} is ${value}`);
  return Number(value);
}

/** To the second, as the headers of a download have it, so that all calls agree on an object. */
function instant(value: string): number {
  const ms = Date.parse(value);
  if (Number.isNaN(ms)) throw new TypeError(`"${value}" is no time`);
  return Math.floor(ms / 1000) * 1000;
}

function one(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.join(',');
}
