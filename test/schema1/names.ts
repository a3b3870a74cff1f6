/** What things of the old store are called: keys, hashes, identities, and the order of bytes. */
import { createHash } from 'node:crypto';
import { OldStoreError } from './error.ts';

/** Everything of a world lies under it. */
export const PREFIX = '_demarkus/v1/';
/** The one object that is replaced. */
export const HEAD_KEY: string = `${PREFIX}head.json`;
export const SHARDS = 256;
/** Versions in a whole history block; the blocks are absolute: 1–256, 257–512, … */
const BLOCK_VERSIONS = 256;
/** The last commits that the head tells of. */
export const RECEIPTS_MAX = 16;
/** Sequences of a change block. Block 0 has one receipt less: sequence 1 has none. */
export const CHANGE_BLOCK = 8;
export const DOCUMENTS_MAX = 100_000;
export const VERSION_MAX: number = 2 ** 31 - 1;

export function rootKey(hash: string): string {
  return `${PREFIX}roots/${hash}.json`;
}

export function shardKey(label: string, hash: string): string {
  return `${PREFIX}index/${label}/${hash}.json`;
}

export function manifestKey(pathHash: string, hash: string): string {
  return `${PREFIX}docs/${pathHash}/manifests/${hash}.json`;
}

export function historyKey(hash: string): string {
  return `${PREFIX}history/${hash}.json`;
}

export function blobKey(hash: string): string {
  return `${PREFIX}blobs/${hash}`;
}

export function changeKey(block: number): string {
  return `${PREFIX}changes/${block.toString(16).padStart(16, '0')}.json`;
}

/** 64 lower case hex digits. */
export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The label of a shard by its number. */
export function shardLabel(index: number): string {
  return index.toString(16).padStart(2, '0');
}

/** The shard of a document: the first byte of the hash of its path. */
export function shardOf(pathHash: string): number {
  return Number.parseInt(pathHash.slice(0, 2), 16);
}

/** The index of the history block of a version. */
export function blockOf(version: number): number {
  return Math.floor((version - 1) / BLOCK_VERSIONS);
}

/** The order of UTF-8 bytes. */
export function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Refuses what is no hash. */
export function checkHash(object: string, hash: string): string {
  if (!/^[0-9a-f]{64}$/.test(hash)) throw refusal(object, `${hash} is no hash`);
  return hash;
}

/** Refuses what is no body hash: `sha256-` and a hash. */
export function checkBodyHash(object: string, hash: string): string {
  if (!hash.startsWith('sha256-')) throw refusal(object, `${hash} is no body hash`);
  checkHash(object, hash.slice(7));
  return hash;
}

/** Refuses what is no UUID. The version digit is not looked at. */
export function checkUuid(object: string, id: string): string {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)) {
    throw refusal(object, `${id} is no UUID`);
  }
  return id;
}

/** Refuses a time that is not spelled canonically: UTC, whole seconds. */
export function checkTimestamp(object: string, time: string): string {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(time) ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(ms) || timestamp(ms) !== time) throw refusal(object, `${time} is no time`);
  return time;
}

/** A time as documents carry it. @param ms since the epoch */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Refuses what is no path of a document: not canonical, too long, or with control characters. */
export function checkDocumentPath(object: string, path: string): string {
  const segments = path.split('/').slice(1);
  const canonical = path.startsWith('/') && segments.every((one) => one !== '' && !isDots(one));
  const printable = [...path].every((one) => one === '\t' || (one >= ' ' && one !== '\u007f'));
  if (!canonical || !printable || Buffer.byteLength(path) > 4087) {
    throw refusal(object, `${JSON.stringify(path.slice(0, 80))} is no path of a document`);
  }
  return path;
}

/** The paths above a document that no document may have: `/a` and `/a/b` for `/a/b/c.md`. */
export function ancestorsOf(path: string): readonly string[] {
  const ancestors = [];
  for (let at = path.indexOf('/', 1); at > 0; at = path.indexOf('/', at + 1)) {
    ancestors.push(path.slice(0, at));
  }
  return ancestors;
}

function isDots(segment: string): boolean {
  return segment === '.' || segment === '..';
}

function refusal(object: string, problem: string): OldStoreError {
  return new OldStoreError('integrity', object, problem);
}
