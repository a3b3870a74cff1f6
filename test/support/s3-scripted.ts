/** The S3 driver over answers that a test writes, in virtual time. */
import { createHash } from 'node:crypto';
import type { BlobStore } from '../../blob/blob.ts';
import { createS3Bucket } from '../../blob/s3.ts';
import { ManualClock } from './manual-clock.ts';
import { errorBody, type ScriptedAnswer, type ScriptedRequest, scriptedS3 } from './s3-script.ts';

export const BYTES: Uint8Array = new TextEncoder().encode('hello');
export const MD5: string = createHash('md5').update(BYTES).digest('hex');
export const DATE = 'Mon, 01 Jan 2024 00:00:05 GMT';
export const DATE_MS: number = Date.UTC(2024, 0, 1, 0, 0, 5);

export interface Scripted {
  readonly store: BlobStore;
  readonly requests: readonly ScriptedRequest[];
  readonly clock: ManualClock;
  arrival(): Promise<void>;
}

/** A store under `team/a/` whose requests get these answers in order. */
export function scripted(...answers: readonly (ScriptedAnswer | Error | 'never')[]): Scripted {
  const clock = new ManualClock();
  const { client, requests, arrival } = scriptedS3(answers);
  const store = createS3Bucket({ bucket: 'bucket', prefix: 'team/a', client, timing: clock });
  return { store, requests, clock, arrival };
}

/** A refusal, with an error document when there is a code. */
export function failed(status: number, code?: string, message?: string): ScriptedAnswer {
  const body = code === undefined ? '' : errorBody(code, message);
  return { status, headers: { date: DATE, 'content-length': String(body.length) }, body };
}

/** The object `hello`. */
export function hello(
  headers: Readonly<Record<string, string>> = {},
  body = 'hello',
): ScriptedAnswer {
  const common = {
    date: DATE,
    etag: `"${MD5}"`,
    'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT',
    'content-length': String(body.length),
  };
  return { status: 200, headers: { ...common, ...headers }, body };
}

/** One call of each kind, on key `k`. */
export type Operation = 'create' | 'replace' | 'delete' | 'get' | 'head' | 'list';

export const CALLS: Readonly<Record<Operation, (store: BlobStore) => Promise<unknown>>> = {
  create: (store) => store.create('k', BYTES),
  replace: (store) => store.replace('k', `${MD5}@1`, BYTES),
  delete: (store) => store.delete('k'),
  get: (store) => store.get('k'),
  head: (store) => store.head('k'),
  list: (store) => store.list({ prefix: '', limit: 10 }),
};
export const OPERATIONS = Object.keys(CALLS) as readonly Operation[];
export const WRITES: ReadonlySet<Operation> = new Set(['create', 'replace', 'delete']);
