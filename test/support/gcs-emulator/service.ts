/** The operations of the emulated service on one bucket: what it answers to each request. */

import { createHash } from 'node:crypto';
import { type Answer, json, mediaHeaders, Refusal, resource } from './answers.ts';
import { crc32c, Objects, type StoredObject } from './objects.ts';
import {
  bad,
  generationOf,
  type Metadata,
  objectOf,
  partsOf,
  rangeOf,
  type WireCall,
} from './requests.ts';
import type { RuleName } from './rules.ts';

export interface ServiceOptions {
  readonly bucket: string;
  readonly broken: ReadonlySet<RuleName>;
  readonly now: () => number;
  /** Waits a moment; used by broken rules only. */
  readonly pause: () => Promise<void>;
}

interface Upload {
  readonly name: string;
  readonly form: 'media' | 'multipart' | 'resumable';
  readonly query: URLSearchParams;
  readonly metadata: Metadata;
  readonly content: Buffer;
  readonly contentType: string | undefined;
}

export class Service {
  readonly #options: ServiceOptions;
  readonly #objects: Objects;
  readonly #sessions = new Map<string, Omit<Upload, 'content'> & { content: Buffer }>();
  #sessionCount = 0;

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#objects = new Objects(options.broken);
  }

  /** The bytes that are stored, past every rule. */
  stored(name: string): Uint8Array | undefined {
    return this.#objects.live(name)?.bytes;
  }

  list({ query }: WireCall): Answer {
    const maxResults = Number(query.get('maxResults') ?? 1000);
    if (!Number.isInteger(maxResults) || maxResults < 1) throw bad('Invalid maxResults');
    const { objects, token } = this.#objects.list({
      prefix: query.get('prefix') ?? '',
      startOffset: query.get('startOffset') ?? undefined,
      endOffset: query.get('endOffset') ?? undefined,
      maxResults: Math.min(maxResults, 1000),
      pageToken: query.get('pageToken') ?? undefined,
    });
    const items = objects.map((object) => resource(this.#options.bucket, object));
    return json({
      kind: 'storage#objects',
      ...(items.length > 0 && { items }),
      ...(token !== undefined && { nextPageToken: token }),
    });
  }

  get(name: string, { query, headers }: WireCall): Answer {
    const object = this.#objects.read(name);
    const generation = generationOf(query, 'generation');
    const gone = !this.#broken('generation-gone') && generation !== undefined;
    if (object === undefined || (gone && object.generation !== generation)) {
      throw new Refusal(404, 'notFound', `No such object: ${this.#options.bucket}/${name}`);
    }
    if (!this.#broken('read-precondition')) this.#check(object, query, 304);
    if (query.get('alt') !== 'media') return json(resource(this.#options.bucket, object));
    const all = mediaHeaders(object, this.#broken('download-checksum'));
    const size = object.bytes.length;
    let range = this.#broken('range') ? undefined : rangeOf(headers.range, size);
    if (range === 'beyond' && this.#broken('range-beyond-end')) range = [size - 1, size];
    if (range === 'beyond') {
      const body = Buffer.from('The requested range cannot be satisfied.');
      return { status: 416, headers: { 'Content-Range': `bytes */${size}` }, body };
    }
    if (range === undefined) return { status: 200, headers: all, body: object.bytes };
    const [start, end] = range;
    const served = { 'Content-Range': `bytes ${start}-${end - 1}/${size}` };
    return { status: 206, headers: { ...all, ...served }, body: object.bytes.subarray(start, end) };
  }

  delete(name: string, { query }: WireCall): Answer {
    const object = this.#objects.live(name);
    if (!this.#broken('delete-precondition')) this.#check(object, query, 412);
    if (object === undefined && !this.#broken('delete-absent')) {
      throw new Refusal(404, 'notFound', `No such object: ${this.#options.bucket}/${name}`);
    }
    this.#objects.remove(name);
    return { status: 204, headers: {}, body: Buffer.alloc(0) };
  }

  /** The first or only request of an upload. */
  async upload(call: WireCall, damage: boolean, self: string): Promise<Answer> {
    const { query, headers, body } = call;
    const type = query.get('uploadType');
    const contentType = headers['content-type'];
    const hashes = { ...headerHashes(headers) };
    switch (type) {
      case 'media': {
        const name = this.#name(query.get('name'));
        const content = damaged(body, damage);
        return this.#store({ name, form: type, query, metadata: hashes, content, contentType });
      }
      case 'multipart': {
        const parts = partsOf(call);
        const name = this.#name(query.get('name') ?? parts.metadata.name);
        const metadata = { ...parts.metadata, ...hashes };
        const content = damaged(parts.content, damage);
        return this.#store({ ...parts, name, form: type, query, metadata, content });
      }
      case 'resumable': {
        const metadata = objectOf(body.toString());
        const name = this.#name(query.get('name') ?? metadata.name);
        const held = { name, form: type, query, metadata, content: Buffer.alloc(0) } as const;
        this.#admit({ ...held, contentType: undefined });
        this.#sessionCount += 1;
        const id = String(this.#sessionCount);
        const mime = headers['x-upload-content-type'];
        this.#sessions.set(id, {
          ...held,
          contentType: typeof mime === 'string' ? mime : undefined,
        });
        return {
          status: 200,
          headers: { Location: `${self}&upload_id=${id}` },
          body: Buffer.alloc(0),
        };
      }
      default:
        throw bad(`Unknown uploadType: ${type}`);
    }
  }

  /** A later request of a resumable upload. */
  async resume({ query, headers, body }: WireCall, damage: boolean): Promise<Answer> {
    const id = query.get('upload_id') ?? '';
    const session = this.#sessions.get(id);
    if (session === undefined) throw new Refusal(404, 'notFound', 'No such upload');
    const range = /^bytes (\*|(\d+)-(\d+|\*))\/(\d+|\*)$/.exec(headers['content-range'] ?? '');
    if (headers['content-range'] !== undefined && range === null) throw bad('Bad Content-Range');
    const start = range?.[2];
    if (start !== undefined && Number(start) !== session.content.length) throw bad('Wrong offset');
    session.content = Buffer.concat([session.content, body]);
    const total = range?.[4];
    const open = range?.[3] === '*' ? false : total === '*';
    if (open || (total !== undefined && total !== '*' && Number(total) > session.content.length)) {
      const { length } = session.content;
      const Range = length > 0 ? { Range: `bytes=0-${length - 1}` } : {};
      return { status: 308, headers: { ...Range }, body: Buffer.alloc(0) };
    }
    this.#sessions.delete(id);
    return this.#store({ ...session, content: damaged(session.content, damage) });
  }

  async #store(upload: Upload): Promise<Answer> {
    const { name, form, metadata, content } = upload;
    if (!this.#broken('upload-checksum')) checkHashes(metadata, content);
    this.#admit(upload);
    if (form === 'multipart' && this.#broken('multipart-precondition-atomic')) {
      await this.#options.pause();
    }
    const mime = metadata.contentType;
    const type = typeof mime === 'string' ? mime : upload.contentType;
    const now = this.#options.now();
    const object = this.#objects.put(name, content, type ?? 'application/octet-stream', now);
    return json(resource(this.#options.bucket, object));
  }

  /** The preconditions of an upload, by its form. */
  #admit({ name, form, query }: Upload): void {
    if (!this.#broken(`${form}-precondition`)) this.#check(this.#objects.live(name), query, 412);
  }

  #check(object: StoredObject | undefined, query: URLSearchParams, notMatch: 304 | 412): void {
    const match = generationOf(query, 'ifGenerationMatch');
    const other = generationOf(query, 'ifGenerationNotMatch');
    const live = object?.generation ?? '0';
    const loose = this.#broken('match-generation') && match !== '0' && live !== '0';
    if (match !== undefined && match !== live && !loose) throw conditionNotMet(412);
    if (other !== undefined && other === live) throw conditionNotMet(notMatch);
  }

  #name(value: unknown): string {
    if (typeof value !== 'string') throw bad('Required parameter: name');
    const long = Buffer.byteLength(value) > 1024;
    const wrong = value === '' || value === '.' || value === '..' || /[\r\n]/.test(value) || long;
    if (wrong && !this.#broken('object-names')) throw bad('Invalid object name');
    return value;
  }

  #broken(rule: RuleName): boolean {
    return this.#options.broken.has(rule);
  }
}

function conditionNotMet(status: 304 | 412): Refusal {
  return new Refusal(
    status,
    'conditionNotMet',
    'At least one of the pre-conditions you specified did not hold.',
  );
}

function damaged(content: Buffer, damage: boolean): Buffer {
  const copy = Buffer.from(content);
  if (damage && copy.length > 0) copy.writeUInt8(copy.readUInt8(0) ^ 1, 0);
  return copy;
}

function headerHashes(headers: WireCall['headers']): Metadata {
  const found: { crc32c?: string; md5Hash?: string } = {};
  const header = headers['x-goog-hash'];
  for (const pair of (typeof header === 'string' ? header : '').split(',')) {
    const [name = '', ...rest] = pair.trim().split('=');
    if (name === 'crc32c') found.crc32c = rest.join('=');
    if (name === 'md5') found.md5Hash = rest.join('=');
  }
  const md5 = headers['content-md5'];
  if (typeof md5 === 'string') found.md5Hash = md5;
  return found;
}

function checkHashes(metadata: Metadata, content: Buffer): void {
  const md5 = metadata.md5Hash;
  if (typeof md5 === 'string' && md5 !== createHash('md5').update(content).digest('base64')) {
    throw bad('Provided MD5 hash does not match the calculated one');
  }
  const crc = metadata.crc32c;
  if (typeof crc === 'string' && crc !== crc32c(content)) {
    throw bad('Provided CRC32C does not match the calculated one');
  }
}
