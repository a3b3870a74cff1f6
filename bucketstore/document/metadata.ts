/**
 * Metadata: a flat map from short keys to one-line texts. Here is what a map may hold, when two are
 * the same, and what the meaningful keys (`tags`, `retention`, `importance`, `type`) say.
 */
import { compareUtf8 } from '../base/order.ts';
import { parseDecimal } from './decimal.ts';
import { nameOf } from './path.ts';
import { isBlank, trimSpace, utf8Length } from './text.ts';

/** Objects without a prototype: `constructor` is a key like any other. "No metadata" is null. */
export type Metadata = Readonly<Record<string, string>>;

export const METADATA_KEYS_MAX = 50;
/** Sum of the UTF-8 lengths of keys and values; `tags` count as they are stored, `[a, b]`. */
export const METADATA_BYTES_MAX = 1024;
/** The value of `importance` when it is not given, or not usable. */
const IMPORTANCE_DEFAULT = 0.5;

const RETENTION_MAX = 2_147_483_647;
/** What older servers took: the largest whole number of 64 bits. */
const RETENTION_STORED_MAX = 9_223_372_036_854_775_807n;

/** What is wrong with metadata. `key` is null when it is the whole. */
export interface MetadataProblem {
  readonly kind: 'reserved' | 'key' | 'value' | 'retention' | 'count' | 'bytes';
  readonly key: string | null;
  readonly reason: string;
}

/** Whether a key belongs to the store's own lines of a stored version. */
export function isReservedKey(key: string): boolean {
  return key === 'version' || key === 'previous-hash' || key === 'archived';
}

/**
 * The first problem, null when there is none: key by key in byte order (reserved, characters of the
 * key, of the value, retention), then the number of keys, then their bytes. Checks what was handed
 * in: check first, normalise then.
 */
export function checkMetadata(metadata: Metadata | null): MetadataProblem | null {
  return firstProblem(metadata, RETENTION_MAX);
}

/**
 * The same of what is stored, perhaps by an older server: it took a retention of up to 2^63 − 1.
 * `normaliseMetadata` makes one that `checkMetadata` passes of it.
 */
export function checkStoredMetadata(metadata: Metadata | null): MetadataProblem | null {
  return firstProblem(metadata, RETENTION_STORED_MAX);
}

function firstProblem(
  metadata: Metadata | null,
  retentionMax: number | bigint,
): MetadataProblem | null {
  if (metadata === null) return null;
  const keys = Object.keys(metadata).sort(compareUtf8);
  let bytes = 0;
  for (const key of keys) {
    const value: unknown = metadata[key];
    const problem = checkPair(key, value, retentionMax);
    if (problem !== null) return problem;
    bytes += pairBytes(key, value as string);
  }
  if (keys.length > METADATA_KEYS_MAX) {
    const reason = `${keys.length} keys, ${METADATA_KEYS_MAX} are allowed`;
    return { kind: 'count', key: null, reason };
  }
  if (bytes > METADATA_BYTES_MAX) {
    const reason = `${bytes} bytes of keys and values, ${METADATA_BYTES_MAX} are allowed`;
    return { kind: 'bytes', key: null, reason };
  }
  return null;
}

/** What one pair adds to the bytes that `METADATA_BYTES_MAX` limits. */
export function pairBytes(key: string, value: string): number {
  return utf8Length(key) + utf8Length(key === 'tags' ? formatTags(value) : value);
}

/**
 * The one form of a map: tags as they read back, a retention that no history can exceed as the
 * largest one, empty as null, own keys only, no prototype.
 */
export function normaliseMetadata(
  input: Readonly<Record<string, string>> | null | undefined,
): Metadata | null {
  if (input === null || input === undefined) return null;
  const metadata = emptyMetadata();
  let empty = true;
  for (const key of Object.keys(input)) {
    const value = input[key];
    if (value === undefined) continue;
    metadata[key] = normaliseValue(key, value);
    empty = false;
  }
  // Frozen: one map is shared by the state, the log and every answer.
  return empty ? null : Object.freeze(metadata);
}

function normaliseValue(key: string, value: string): string {
  if (key === 'tags') return splitTags(value).join(',');
  return key === 'retention' ? normaliseRetention(value) : value;
}

/** A retention as it is kept: one beyond 2^31 − 1 prunes nothing, and is that. */
export function normaliseRetention(value: string): string {
  const isLarger = isRetention(value, RETENTION_STORED_MAX) && parseRetention(value) === null;
  return isLarger ? String(RETENTION_MAX) : value;
}

/** Whether two maps say the same once normalised; null and empty do. */
export function metadataEqual(a: Metadata | null, b: Metadata | null): boolean {
  const left = normaliseMetadata(a);
  const right = normaliseMetadata(b);
  if (left === null || right === null) return left === right;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => left[key] === right[key]);
}

/** The tags of a comma-separated value: trimmed, empty ones dropped, order and repeats kept. */
export function splitTags(value: string): string[] {
  return value
    .split(',')
    .map(trimSpace)
    .filter((tag) => tag !== '');
}

/** A comma-separated value as a stored version spells it: `[a, b]`, `[]`. */
export function formatTags(value: string): string {
  return `[${splitTags(value).join(', ')}]`;
}

/** The comma-separated value of what a stored version spells, with or without brackets. */
export function parseTags(stored: string): string {
  let list = trimSpace(stored);
  if (list.length >= 2 && list.startsWith('[') && list.endsWith(']')) list = list.slice(1, -1);
  return splitTags(list).join(',');
}

/** Versions to keep: `+` or nothing, then digits, 1 to 2^31 − 1 in all; null for any other text. */
export function parseRetention(value: string): number | null {
  return isRetention(value, RETENTION_MAX) ? Number(value) : null;
}

function isRetention(value: string, max: number | bigint): boolean {
  // Digits are looked at before they are counted: a number of a million takes long to make.
  const digits = /^[+]?0*([0-9]{1,19})$/.exec(value)?.[1];
  if (digits === undefined) return false;
  const count = BigInt(digits);
  return count >= 1 && count <= max;
}

/**
 * The importance of a document, 0 to 1: `importance` where it is a decimal in that range, else
 * `IMPORTANCE_DEFAULT`.
 */
export function importanceOf(metadata: Metadata | null): number {
  const value = metadata?.['importance'];
  if (value === undefined) return IMPORTANCE_DEFAULT;
  return parseImportance(value) ?? IMPORTANCE_DEFAULT;
}

/** The number a text gives as importance; null when it is no decimal of 0 to 1. */
export function parseImportance(value: string): number | null {
  const number = parseDecimal(trimSpace(value));
  return number !== null && number >= 0 && number <= 1 ? number : null;
}

/** `metadata` with `type: Document` where no type is given, but not for `index.md` and `log.md`. */
export function withDefaultType(metadata: Metadata | null, path: string): Metadata | null {
  if (!isBlank(metadata?.['type']) || isTypeless(path)) return metadata;
  return Object.assign(emptyMetadata(), metadata, { type: 'Document' });
}

/** Whether a document needs no type: a directory's index or log. */
export function isTypeless(path: string): boolean {
  const name = nameOf(path);
  return name === 'index.md' || name === 'log.md';
}

/**
 * The metadata of an append: the old version's but its `retention`, overlaid by the request's, with
 * the default type. Two maps that are valid each may fail together: check the result again.
 */
export function mergeForAppend(
  old: Metadata | null,
  request: Metadata | null,
  path: string,
): Metadata | null {
  const merged: Record<string, string> = Object.assign(emptyMetadata(), old);
  delete merged['retention'];
  Object.assign(merged, request);
  return normaliseMetadata(withDefaultType(merged, path));
}

/** A map to fill: no prototype, so that no key finds anything that was not put there. */
export function emptyMetadata(): Record<string, string> {
  return Object.create(null);
}

function checkPair(
  key: string,
  value: unknown,
  retentionMax: number | bigint,
): MetadataProblem | null {
  const problem = (kind: MetadataProblem['kind'], reason: string): MetadataProblem => ({
    kind,
    key,
    reason,
  });
  if (isReservedKey(key)) return problem('reserved', 'this key is reserved');
  if (!/^[a-z0-9-]+$/.test(key)) {
    return problem('key', 'a key is one or more of a-z, 0-9 and "-"');
  }
  if (typeof value !== 'string' || !value.isWellFormed()) {
    return problem('value', 'a value is well-formed text');
  }
  if (value.includes('\n') || value.includes('\r')) {
    return problem('value', 'a value is one line');
  }
  if (key === 'retention' && !isRetention(value, retentionMax)) {
    return problem('retention', `retention is a whole number of 1 to ${retentionMax}`);
  }
  return null;
}
