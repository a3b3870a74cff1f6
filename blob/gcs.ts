/**
 * The GCS driver.
 *
 * The SDK gives the endpoint and the credentials, and authorises every request as it does its own;
 * sending is `gcs-send.ts`, which says why. Nothing below this file repeats a request: a client
 * library that retries a conditional create turns our own success into `exists`.
 *
 * Cost: one request a call, with these exceptions. The first *not found* of a store that has had
 * no success yet asks once for one key of the bucket, since GCS answers 404 both for an absent
 * object and for an absent bucket; later ones cost nothing more, so a bucket that is removed
 * under a running store reads as empty until a create or a list says `no-bucket`. A range that
 * starts at or beyond the end takes a second request for the attributes. A list may follow page
 * tokens when GCS sends empty pages.
 */
import { Storage } from '@google-cloud/storage';
import {
  type Attributes,
  type BlobStore,
  type CallOptions,
  type CreateResult,
  type DeleteResult,
  type GetOptions,
  type GetResult,
  type HeadResult,
  IDLE_BODY_MS_DEFAULT,
  type ListQuery,
  type ListResult,
  type ReplaceResult,
  type Timing,
} from './blob.ts';
import { BlobError, type CallName } from './errors.ts';
import type { GcsClient } from './gcs-auth.ts';
import { checkMedia, checkPage, decode } from './gcs-check.ts';
import { integrityError, statusError } from './gcs-errors.ts';
import { createSender, type Sender, type WireRequest, type WireResponse } from './gcs-send.ts';
import { type Call, GcsSession } from './gcs-session.ts';
import {
  decodeJson,
  decodeMedia,
  decodeObject,
  decodePage,
  GcsAddresses,
  multipartBody,
} from './gcs-wire.ts';
import { formatRange, parseDate } from './http-headers.ts';
import { formatLocation } from './location.ts';
import { namePrefix, objectName } from './object-name.ts';
import { checkGeneration, checkKey, checkList, checkRange } from './validate.ts';

export type { GcsClient } from './gcs-auth.ts';

export interface GcsBucketOptions {
  /** The bucket's name. */
  readonly bucket: string;
  /** Every key is kept under `prefix/`; keys outside are not seen. Default: the whole bucket. */
  readonly prefix?: string | undefined;
  /** Whose credentials and endpoint to use, for instance a `Storage`. Default: a new one. */
  readonly client?: GcsClient | undefined;
  /** For the default client: another server, spoken to without credentials. */
  readonly apiEndpoint?: string | undefined;
  readonly timing: Timing;
  /** Longest pause between two pieces of a body, ms. Default 3,000. */
  readonly idleBodyMs?: number | undefined;
  /** Most connections in each lane. Default 128. */
  readonly maxSockets?: number | undefined;
  /** How requests are sent; for tests. Default: over sockets of this store's own. */
  readonly sender?: Sender | undefined;
}

const JSON_BYTES_MAX = 16 * 1024 * 1024;
const ERROR_BYTES_MAX = 1024 * 1024;
/** Answers that only a bucket that exists gives. */
const BUCKET_SEEN: ReadonlySet<number> = new Set([200, 204, 206, 412, 416]);

/** Opens a GCS bucket or a prefix of one. Sends nothing yet. */
export function createGcsBucket(options: GcsBucketOptions): BlobStore {
  return new GcsBucket(options);
}

class GcsBucket implements BlobStore {
  readonly name: string;
  readonly #session: GcsSession;
  readonly #addresses: GcsAddresses;
  readonly #prefix: string;
  #bucketSeen = false;

  constructor(options: GcsBucketOptions) {
    const { bucket, prefix = '', apiEndpoint, timing } = options;
    const { idleBodyMs = IDLE_BODY_MS_DEFAULT, maxSockets = 128 } = options;
    // The SDK sends nothing for us but token requests; its retries are off all the same.
    const settings = { retryOptions: { autoRetry: false }, ...(apiEndpoint && { apiEndpoint }) };
    const client = options.client ?? new Storage(settings);
    this.name = formatLocation({ kind: 'gcs', bucket, prefix, query: new Map(), model: false });
    const sender = options.sender ?? createSender({ timing, idleBodyMs, maxSockets });
    this.#session = new GcsSession(client, sender, timing);
    this.#addresses = new GcsAddresses(client.apiEndpoint, bucket);
    this.#prefix = namePrefix(prefix);
  }

  async create(key: string, bytes: Uint8Array, options?: CallOptions): Promise<CreateResult> {
    const call = this.#session.begin({ operation: 'create', key }, options);
    const { response, attributes } = await this.#upload(call, '0', bytes);
    const date = parseDate(response.headers.date);
    return attributes === undefined
      ? { outcome: 'exists', date }
      : { outcome: 'created', attributes, date };
  }

  async replace(
    key: string,
    generation: string,
    bytes: Uint8Array,
    options?: CallOptions,
  ): Promise<ReplaceResult> {
    const call = this.#session.begin({ operation: 'replace', key }, options);
    checkKey('replace', key);
    checkGeneration(key, generation);
    // "0" would mean "if absent".
    if (!/^[1-9]\d{0,18}$/.test(generation)) {
      const message = `no generation: ${generation}`;
      throw new BlobError({ operation: 'replace', key, code: 'invalid', message });
    }
    const { response, attributes } = await this.#upload(call, generation, bytes);
    const date = parseDate(response.headers.date);
    return attributes === undefined
      ? { outcome: 'changed', date }
      : { outcome: 'replaced', attributes, date };
  }

  async get(key: string, options: GetOptions = {}): Promise<GetResult> {
    const call = this.#session.begin({ operation: 'get', key }, options);
    const name = this.#nameOf(call);
    const { range } = options;
    checkRange(key, range);
    if (range !== undefined && range[0] === range[1]) return this.#getNothing(call, name);
    const part = range === undefined ? undefined : { Range: formatRange(range) };
    const response = await this.#send(call, {
      method: 'GET',
      url: this.#addresses.media(name),
      headers: part ?? {},
      bytesMax: range === undefined ? Infinity : Math.max(range[1] - range[0], ERROR_BYTES_MAX),
    });
    const date = parseDate(response.headers.date);
    if (response.status === 404) {
      await this.#requireBucket(call);
      return { found: false, date };
    }
    if (range !== undefined && response.status === 416) return this.#getNothing(call, name);
    if (response.status !== 200 && response.status !== 206) throw statusError(call, response);
    const attributes = decode(call, response, () => {
      const media = decodeMedia(key, response.headers);
      checkMedia(media, response, range);
      return media.attributes;
    });
    return { found: true, bytes: response.bytes, attributes, date };
  }

  async head(key: string, options?: CallOptions): Promise<HeadResult> {
    const call = this.#session.begin({ operation: 'head', key }, options);
    return this.#head(call, this.#nameOf(call));
  }

  async list(query: ListQuery, options: CallOptions = {}): Promise<ListResult> {
    checkList(query);
    const { limit } = query;
    const call = this.#session.begin({ operation: 'list', key: query.prefix }, options);
    const prefix = this.#prefix + query.prefix;
    const after = query.after === undefined ? undefined : this.#prefix + query.after;
    // The offset includes the key itself, which takes one place of the page if it is there.
    const ask = Math.min(limit + (after === undefined ? 0 : 1), 1000);
    let token: string | undefined;
    for (;;) {
      const response = await this.#send(call, {
        method: 'GET',
        url: this.#addresses.list(prefix, after, ask, token),
        headers: {},
        bytesMax: JSON_BYTES_MAX,
      });
      if (response.status !== 200) throw statusError(call, response);
      const page = decode(call, response, () => {
        const decoded = decodePage(response.bytes);
        return { ...decoded, objects: checkPage(decoded.objects, prefix, after) };
      });
      // An empty page with a token is legal, but leaves our caller without a place to go on from.
      if (page.objects.length === 0 && page.pageToken !== undefined) {
        if (page.pageToken === token) throw integrityError(call, response, 'the list is stuck');
        token = page.pageToken;
        continue;
      }
      const objects = page.objects.slice(0, limit).map((found) => this.#unprefixed(found));
      const more = page.objects.length > limit || page.pageToken !== undefined;
      return { objects, more, date: parseDate(response.headers.date) };
    }
  }

  async delete(key: string, options: CallOptions = {}): Promise<DeleteResult> {
    const call = this.#session.begin({ operation: 'delete', key }, options);
    const name = this.#nameOf(call);
    const response = await this.#send(call, {
      method: 'DELETE',
      url: this.#addresses.object(name),
      headers: {},
      bytesMax: ERROR_BYTES_MAX,
    });
    if (response.status === 404) await this.#requireBucket(call);
    else if (response.status !== 204 && response.status !== 200) throw statusError(call, response);
    return { date: parseDate(response.headers.date) };
  }

  async close(): Promise<void> {
    this.#session.close();
  }

  /** No attributes: the precondition failed. */
  async #upload(
    call: Call,
    generation: string,
    bytes: Uint8Array,
  ): Promise<{ readonly response: WireResponse; readonly attributes?: Attributes }> {
    const name = this.#nameOf(call);
    const sent = multipartBody(name, bytes);
    const response = await this.#send(call, {
      method: 'POST',
      url: this.#addresses.upload(name, generation),
      headers: { 'Content-Type': sent.contentType },
      body: sent.body,
      bytesMax: ERROR_BYTES_MAX,
    });
    if (response.status === 412) return { response };
    if (response.status !== 200) throw statusError(call, response);
    const attributes = decode(call, response, () => {
      const { attributes, crc32c } = decodeObject(decodeJson(response.bytes));
      const same = attributes.size === bytes.length && crc32c === sent.crc32c;
      if (attributes.key !== name || !same) {
        throw new TypeError('the answer is about other bytes than were sent');
      }
      return { ...attributes, key: call.key };
    });
    return { response, attributes };
  }

  async #head(call: Call, name: string): Promise<HeadResult> {
    const response = await this.#send(call, {
      method: 'GET',
      url: this.#addresses.metadata(name),
      headers: {},
      bytesMax: ERROR_BYTES_MAX,
    });
    const date = parseDate(response.headers.date);
    if (response.status === 404) {
      await this.#requireBucket(call);
      return { found: false, date };
    }
    if (response.status !== 200) throw statusError(call, response);
    const attributes = decode(call, response, () => {
      const found = decodeObject(decodeJson(response.bytes)).attributes;
      if (found.key !== name) throw new TypeError('the answer is about another object');
      return this.#unprefixed(found);
    });
    return { found: true, attributes, date };
  }

  /** A range without bytes cannot be asked for, so only the attributes are. */
  async #getNothing(call: Call, name: string): Promise<GetResult> {
    const head = await this.#head(call, name);
    return head.found ? { ...head, bytes: new Uint8Array(0) } : head;
  }

  /** After a 404 without any success before it: is it the bucket that is absent? */
  async #requireBucket(call: Call): Promise<void> {
    if (this.#bucketSeen) return;
    const response = await this.#send(call, {
      method: 'GET',
      url: this.#addresses.list(this.#prefix, undefined, 1),
      headers: {},
      bytesMax: ERROR_BYTES_MAX,
    });
    // Not allowed to list is an answer too: about a bucket that is there.
    if (response.status === 403) this.#bucketSeen = true;
    else if (response.status !== 200) throw statusError(call, response);
  }

  async #send(call: Call, request: Omit<WireRequest, 'lane'>): Promise<WireResponse> {
    const response = await this.#session.send(call, request);
    if (BUCKET_SEEN.has(response.status)) this.#bucketSeen = true;
    return response;
  }

  #nameOf(call: CallName): string {
    return objectName(this.#prefix, call);
  }

  #unprefixed(attributes: Attributes): Attributes {
    return { ...attributes, key: attributes.key.slice(this.#prefix.length) };
  }
}
