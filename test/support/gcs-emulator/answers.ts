/** Answers of the emulator in the shapes of the JSON API. */
import type { StoredObject } from './objects.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** A refusal that ends a handler. */
export class Refusal extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

export function json(value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  const body = Buffer.from(JSON.stringify(value));
  const type = { 'Content-Type': 'application/json; charset=UTF-8' };
  return { status: 200, headers: { ...type, ...headers }, body };
}

export function refuse({ status, reason, message }: Refusal): Answer {
  if (status === 304) return { status, headers: {}, body: Buffer.alloc(0) };
  const errors = [{ message, domain: 'global', reason }];
  return { ...json({ error: { code: status, message, errors } }), status };
}

/** The metadata of an object, all numbers as text. */
export function resource(bucket: string, object: StoredObject): Readonly<Record<string, string>> {
  const time = new Date(object.updatedMs).toISOString();
  return {
    kind: 'storage#object',
    id: `${bucket}/${object.name}/${object.generation}`,
    name: object.name,
    bucket,
    generation: object.generation,
    metageneration: '1',
    contentType: object.contentType,
    storageClass: 'STANDARD',
    size: String(object.bytes.length),
    md5Hash: object.md5,
    crc32c: object.crc32c,
    etag: object.generation,
    timeCreated: time,
    updated: time,
  };
}

/** The headers of a download. */
export function mediaHeaders(object: StoredObject, damaged: boolean): Record<string, string> {
  const crc32c = damaged ? 'AAAAAQ==' : object.crc32c;
  return {
    'Content-Type': object.contentType,
    'Last-Modified': new Date(object.updatedMs).toUTCString(),
    'x-goog-generation': object.generation,
    'x-goog-metageneration': '1',
    'x-goog-hash': `crc32c=${crc32c},md5=${object.md5}`,
    'x-goog-stored-content-length': String(object.bytes.length),
    'x-goog-stored-content-encoding': 'identity',
  };
}
