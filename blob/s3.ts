/**
 * The S3 driver, for AWS and for servers that honour `If-None-Match: *` (Ceph RGW among them).
 *
 * `@aws-sdk/client-s3` addresses, signs and sends; `s3-exchange.ts` sees every request and answer
 * in between and lets one request through a call. So nothing below this file repeats a request,
 * whatever client is given: a library that retries a conditional create turns our own success into
 * `exists`.
 *
 * Writes carry length, Content-MD5 and, unless `checksums: 'required'`, CRC32. Whole reads are
 * checked against the checksum that the service returns, else against an ETag that is an MD5; parts
 * against their range.
 *
 * Cost: one request a call, with these exceptions. A head that finds nothing, before this store has
 * had any success, asks once for one key of the bucket, since an absent bucket answers a head
 * alike. A range that starts at or beyond the end takes a head for the attributes. A refused
 * replace is repeated with the ETag in quotes: RGW takes it without only, the standard says with,
 * AWS takes both. A list follows empty pages.
 */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import {
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
} from './blob.ts';
import { BlobError, type CallName } from './errors.ts';
import { formatRange } from './http-headers.ts';
import { formatLocation } from './location.ts';
import { namePrefix, objectName } from './object-name.ts';
import { renewingProvider } from './s3-credentials.ts';
import { decodeFault, integrityError } from './s3-errors.ts';
import { decodePage, type Page } from './s3-list.ts';
import { decodeAttributes, etagOf, md5Base64, verifiedBytes } from './s3-objects.ts';
import type { S3BucketOptions } from './s3-options.ts';
import {
  checked,
  isAbsent,
  isRefused,
  refuseErrorBody,
  requireStatus,
  written,
} from './s3-reply.ts';
import { type Reply, type S3Api, type S3Command, S3Session } from './s3-session.ts';
import { checkGeneration, checkList, checkRange } from './validate.ts';

export type { S3CredentialSource, S3Credentials } from './s3-credentials.ts';
export type { S3BucketOptions } from './s3-options.ts';
export type { S3Api } from './s3-session.ts';

const MAX_SOCKETS_DEFAULT = 256;
/** Empty pages in a row that a list follows. */
const EMPTY_PAGES_MAX = 100;

/**
 * A bucket of an S3 service, or a prefix of one. Nothing is sent before the first call, so a wrong
 * name or wrong credentials show there, as `no-bucket` or `unauthenticated`.
 *
 * Expired session credentials make a call fail as `unauthenticated`, retryable and not ambiguous;
 * the next call fetches new ones first.
 */
export function createS3Bucket(options: S3BucketOptions): BlobStore {
  if (options.client !== undefined) return new S3Bucket(options, options.client, () => {});
  const settings = { keepAlive: true, maxSockets: options.maxSockets ?? MAX_SOCKETS_DEFAULT };
  const agents = [new HttpAgent(settings), new HttpsAgent(settings)] as const;
  const client = createClient(options, agents);
  return new S3Bucket(options, client, () => {
    client.destroy();
    for (const agent of agents) agent.destroy();
  });
}

function createClient(
  options: S3BucketOptions,
  [httpAgent, httpsAgent]: readonly [HttpAgent, HttpsAgent],
): S3Client {
  const { endpoint, credentials, timing } = options;
  const region = options.region ?? (endpoint === undefined ? undefined : 'us-east-1');
  const source = typeof credentials === 'function' ? credentials : undefined;
  const checksums = options.checksums === 'required' ? 'WHEN_REQUIRED' : 'WHEN_SUPPORTED';
  return new S3Client({
    maxAttempts: 1,
    requestHandler: { httpAgent, httpsAgent },
    requestChecksumCalculation: checksums,
    responseChecksumValidation: checksums,
    forcePathStyle: options.forcePathStyle ?? endpoint !== undefined,
    // It buys a round trip before every larger body, and holds an abort back meanwhile.
    expectContinueHeader: false,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(source === undefined ? {} : { credentials: renewingProvider(source, timing) }),
    ...(typeof credentials === 'object' ? { credentials } : {}),
  });
}

class S3Bucket implements BlobStore {
  readonly name: string;
  readonly #bucket: string;
  /** Empty, or ends in a slash. */
  readonly #prefix: string;
  readonly #session: S3Session;
  readonly #release: () => void;
  /** Whether an answer has proved that the bucket exists. */
  #bucketSeen = false;

  constructor(options: S3BucketOptions, client: S3Api, release: () => void) {
    const { bucket, prefix = '', timing, idleBodyMs = IDLE_BODY_MS_DEFAULT } = options;
    const query = new Map(options.endpoint === undefined ? [] : [['endpoint', options.endpoint]]);
    this.name = formatLocation({ kind: 's3', bucket, prefix, query, model: false });
    this.#bucket = bucket;
    this.#prefix = namePrefix(prefix);
    this.#session = new S3Session(client, { timing, idleBodyMs });
    this.#release = release;
  }

  async create(key: string, bytes: Uint8Array, options: CallOptions = {}): Promise<CreateResult> {
    const call: CallName = { operation: 'create', key };
    const input = { ...this.#address(call), ...uploadOf(bytes), IfNoneMatch: '*' };
    const reply = await this.#send(call, new PutObjectCommand(input), options);
    const { date } = reply.exchange;
    return isRefused(reply) ? { outcome: 'exists', date } : written(reply, 'created');
  }

  async replace(
    key: string,
    generation: string,
    bytes: Uint8Array,
    options: CallOptions = {},
  ): Promise<ReplaceResult> {
    const call: CallName = { operation: 'replace', key };
    checkGeneration(key, generation);
    const input = { ...this.#address(call), ...uploadOf(bytes) };
    const etag = etagOf(generation);
    let reply = await this.#send(call, new PutObjectCommand({ ...input, IfMatch: etag }), options);
    if (isRefused(reply)) {
      const quoted = new PutObjectCommand({ ...input, IfMatch: `"${etag}"` });
      reply = await this.#send(call, quoted, options);
    }
    const { date } = reply.exchange;
    const absent = reply.answer.status === 404 && decodeFault(reply.answer).code === 'NoSuchKey';
    if (isRefused(reply) || absent) return { outcome: 'changed', date };
    return written(reply, 'replaced');
  }

  async get(key: string, options: GetOptions = {}): Promise<GetResult> {
    const call: CallName = { operation: 'get', key };
    const { range } = options;
    checkRange(key, range);
    const address = this.#address(call);
    if (range !== undefined && range[0] === range[1]) return this.#getNothing(call, options);
    const part = range === undefined ? {} : { Range: formatRange(range) };
    const reply = await this.#send(call, new GetObjectCommand({ ...address, ...part }), options);
    const { answer, exchange } = reply;
    const { date } = exchange;
    if (isAbsent(reply)) return { found: false, date };
    if (range !== undefined && answer.status === 416) return this.#getNothing(call, options, range);
    requireStatus(reply, [200, 206]);
    return checked(reply, () => {
      const attributes = decodeAttributes(key, answer);
      return { found: true, bytes: verifiedBytes(answer, range), attributes, date };
    });
  }

  async head(key: string, options: CallOptions = {}): Promise<HeadResult> {
    return this.#head({ operation: 'head', key }, options);
  }

  async list(query: ListQuery, options: CallOptions = {}): Promise<ListResult> {
    const call: CallName = { operation: 'list', key: query.prefix };
    checkList(query);
    let page: Page;
    let token: string | undefined;
    for (let pages = 1; ; pages++) {
      const reply = await this.#send(call, this.#listCommand(query, token), options);
      requireStatus(reply, [200]);
      page = checked(reply, () => decodePage(reply.answer, reply.output, this.#prefix, query));
      const { date } = reply.exchange;
      if (page.objects.length > 0 || !page.more) {
        return { objects: page.objects, more: page.more, date };
      }
      if (page.token === undefined || page.token === token || pages >= EMPTY_PAGES_MAX) {
        throw integrityError(call, reply.exchange, 'empty pages without an end');
      }
      token = page.token;
    }
  }

  async delete(key: string, options: CallOptions = {}): Promise<DeleteResult> {
    const call: CallName = { operation: 'delete', key };
    const command = new DeleteObjectCommand(this.#address(call));
    const reply = await this.#send(call, command, options);
    const { date } = reply.exchange;
    if (isAbsent(reply)) return { date };
    requireStatus(reply, [200, 204]);
    refuseErrorBody(reply);
    return { date };
  }

  async close(): Promise<void> {
    if (this.#session.close()) this.#release();
  }

  /** Attributes without bytes: for a range that is empty or beyond the end. */
  async #getNothing(
    call: CallName,
    options: CallOptions,
    range?: readonly [number, number],
  ): Promise<GetResult> {
    const result = await this.#head(call, options);
    if (!result.found) return result;
    if (range !== undefined && result.attributes.size > range[0]) {
      const message = 'the object changed between two requests';
      throw new BlobError({ ...call, code: 'integrity', message, date: result.date });
    }
    return { ...result, bytes: new Uint8Array(0) };
  }

  async #head(call: CallName, options: CallOptions): Promise<HeadResult> {
    const reply = await this.#send(call, new HeadObjectCommand(this.#address(call)), options);
    const { date } = reply.exchange;
    if (reply.answer.status === 404) {
      await this.#requireBucket(call, options);
      return { found: false, date };
    }
    requireStatus(reply, [200]);
    return checked(reply, () => ({
      found: true,
      attributes: decodeAttributes(call.key, reply.answer),
      date,
    }));
  }

  /** A 404 of a head does not say what is absent: before any success, is it the bucket? */
  async #requireBucket(call: CallName, options: CallOptions): Promise<void> {
    if (this.#bucketSeen) return;
    const reply = await this.#send(call, this.#listCommand({ prefix: '', limit: 1 }), options);
    // Not allowed to list is an answer too: about a bucket that is there.
    if (reply.answer.status === 403) this.#bucketSeen = true;
    else requireStatus(reply, [200]);
  }

  #listCommand(query: ListQuery, token?: string): ListObjectsV2Command {
    // Consoles make an object named like the prefix itself to show a folder: it is none of our
    // keys.
    const after = query.after ?? (query.prefix === '' ? '' : undefined);
    const start = after === undefined ? '' : this.#prefix + after;
    return new ListObjectsV2Command({
      Bucket: this.#bucket,
      Prefix: this.#prefix + query.prefix,
      MaxKeys: query.limit,
      ...(start === '' ? {} : { StartAfter: start }),
      ...(token === undefined ? {} : { ContinuationToken: token }),
    });
  }

  #address(call: CallName): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: objectName(this.#prefix, call) };
  }

  async #send(call: CallName, command: S3Command, options: CallOptions): Promise<Reply> {
    const reply = await this.#session.send(call, command, options);
    const { status } = reply.answer;
    if (status < 300 || status === 412 || decodeFault(reply.answer).code === 'NoSuchKey') {
      this.#bucketSeen = true;
    }
    return reply;
  }
}

/** A copy, for the caller may change its bytes while they are sent and after they were hashed. */
function uploadOf(bytes: Uint8Array) {
  const body = Buffer.from(bytes);
  return { Body: body, ContentLength: body.length, ContentMD5: md5Base64(body) };
}
