/** The GCS driver over answers that a test writes: no SDK, no socket, no port; time is manual. */
import { createGcsBucket, type GcsClient } from '../../blob/gcs.ts';
import { crc32cBase64 } from '../../blob/gcs-crc32c.ts';
import {
  SendError,
  type Sender,
  type WireRequest,
  type WireResponse,
} from '../../blob/gcs-send.ts';
import { bytesOf } from '../contract/blob-case.ts';
import { ManualClock } from './manual-clock.ts';

/** The `Date` of every answer, as the service writes it and as the driver hands it out. */
export const DATE = 'Tue, 14 Nov 2023 22:13:20 GMT';
export const DATE_MS = 1_700_000_000_000;

/** What becomes of one request: an answer, a failure to send, or nothing until it is ended. */
export type Reply = WireResponse | Error | 'silent';

/** An answer whose body is a text, or a value as JSON. */
export function reply(
  status: number,
  body: unknown = '',
  headers: WireResponse['headers'] = {},
): Reply {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, headers: { date: DATE, ...headers }, bytes: bytesOf(text) };
}

/** The metadata of an object as the service writes it. */
export function meta(name: string, text = 'x', generation = '7'): Readonly<Record<string, string>> {
  const size = String(bytesOf(text).length);
  const updated = '2023-11-14T22:13:20.345Z';
  return { name, generation, size, updated, crc32c: crc32cBase64(bytesOf(text)) };
}

/** The answer to a download, whole or (with a `content-range`) partial, right but for `headers`. */
export function media(text: string, headers: WireResponse['headers'] = {}): Reply {
  const hash = `crc32c=${crc32cBase64(bytesOf(text))},md5=x`;
  const length = String(bytesOf(text).length);
  const known = { 'x-goog-hash': hash, 'x-goog-stored-content-length': length };
  const all = { 'x-goog-generation': '7', 'last-modified': DATE, ...known, ...headers };
  return reply(headers['content-range'] === undefined ? 200 : 206, text, all);
}

/** A store, what it has sent, and its clock. */
export interface SetUp {
  readonly store: ReturnType<typeof createGcsBucket>;
  readonly sent: WireRequest[];
  readonly clock: ManualClock;
}

/** A store whose requests are answered by `replies`, in order; one too many fails. */
export function setUp(replies: readonly Reply[], auth?: Error | 'never', prefix?: string): SetUp {
  const clock = new ManualClock();
  const sent: WireRequest[] = [];
  const left = [...replies];
  const sender: Sender = {
    send(request, signal) {
      sent.push(request);
      const next = left.shift() ?? new Error('one request too many');
      if (next === 'silent') {
        return new Promise((_, reject) => {
          const stop = (): void => reject(new SendError('stopped', true, undefined));
          signal.addEventListener('abort', stop, { once: true });
        });
      }
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
    close() {},
  };
  const client: GcsClient = {
    apiEndpoint: 'http://fake',
    makeAuthenticatedRequest({ headers }, { onAuthenticated }) {
      if (auth === 'never') return;
      if (auth !== undefined) return onAuthenticated(auth);
      onAuthenticated(null, { headers: { ...headers, Authorization: 'Bearer t' } });
    },
  };
  const store = createGcsBucket({ bucket: 'b', prefix, client, sender, timing: clock });
  return { store, sent, clock };
}

/** Each call of the port that sends something, with its plainest arguments. */
export const CALLS = {
  create: ({ store }: SetUp): Promise<unknown> => store.create('k', bytesOf('x')),
  replace: ({ store }: SetUp): Promise<unknown> => store.replace('k', '7', bytesOf('x')),
  delete: ({ store }: SetUp): Promise<unknown> => store.delete('k'),
  get: ({ store }: SetUp): Promise<unknown> => store.get('k'),
  head: ({ store }: SetUp): Promise<unknown> => store.head('k'),
  list: ({ store }: SetUp): Promise<unknown> => store.list({ prefix: 'k', limit: 10 }),
} as const;
/** Those of them that change the bucket. */
export const WRITES: readonly string[] = ['create', 'replace', 'delete'];
