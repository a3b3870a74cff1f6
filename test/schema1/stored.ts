/** Stored versions of the old store: front matter of its own, then the body, byte for byte. */
import { demand, OldStoreError } from './error.ts';
import { byBytes, checkHash, sha256, VERSION_MAX } from './names.ts';

/** Flat, string to string. Empty when there is none. */
export type OldMetadata = ReadonlyMap<string, string>;

export const BODY_BYTES_MAX = 1_048_576;
const KEYS_MAX = 50;
const METADATA_BYTES_MAX = 1024;
const BARE: ReadonlySet<string> = new Set([
  'type',
  'title',
  'description',
  'resource',
  'tags',
  'timestamp',
]);
const RESERVED: ReadonlySet<string> = new Set(['version', 'previous-hash', 'archived']);
const EMPTY: OldMetadata = new Map();

export interface OldStored {
  readonly version: number;
  /** Hash of all bytes of the version before; null for version 1 alone. */
  readonly previous: string | null;
  readonly metadata: OldMetadata;
  readonly body: Uint8Array;
}

export interface StoredOptions {
  /** Writes tags as the first releases did: `meta.tags: a,b`. */
  readonly legacyTags?: boolean;
  /** Writes `archived: true`, as imports of other stores may have. It means nothing here. */
  readonly archivedLine?: boolean;
}

/** The bytes of a stored version. */
export function encodeStored(stored: OldStored, options: StoredOptions = {}): Uint8Array {
  const { legacyTags = false, archivedLine = false } = options;
  const { version, previous, metadata, body } = stored;
  if ((previous === null) !== (version === 1)) {
    throw new RangeError(`version ${version} after ${previous}`);
  }
  const lines = [`version: ${version}`, `archived: ${archivedLine}`];
  if (previous !== null) lines.push(`previous-hash: sha256-${previous}`);
  for (const [key, value] of [...metadata].sort(([a], [b]) => byBytes(a, b))) {
    if (key === 'tags' && !legacyTags) lines.push(`tags: ${listOfTags(value)}`);
    else lines.push(`${BARE.has(key) && key !== 'tags' ? '' : 'meta.'}${key}: ${value}`);
  }
  const head = Buffer.from(`---\n${lines.join('\n')}\n---\n`);
  return new Uint8Array(Buffer.concat([head, body]));
}

/** Takes a stored version apart, strictly. */
export function decodeStored(object: string, bytes: Uint8Array): OldStored {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = buffer.indexOf('\n---\n', 3);
  demand(buffer.toString('latin1', 0, 4) === '---\n' && end >= 4, object, 'has no front matter');
  const lines = utf8(object, buffer.subarray(4, end)).split('\n');
  const version = Number(/^version: ([1-9][0-9]*)$/.exec(lines[0] ?? '')?.[1]);
  demand(version >= 1 && version <= VERSION_MAX, object, 'has no version line');
  demand(/^archived: (true|false)$/.test(lines[1] ?? ''), object, 'has no archived line');
  const previous =
    version === 1 ? null : (/^previous-hash: sha256-(.*)$/.exec(lines[2] ?? '') ?? []);
  if (previous !== null) checkHash(object, previous[1] ?? '');
  const metadata = new Map<string, string>();
  let before: string | null = null;
  for (const line of lines.slice(previous === null ? 2 : 3)) {
    const [key, value] = readLine(object, line);
    demand(before === null || byBytes(before, key) < 0, object, `${key} is out of order`);
    metadata.set(key, value);
    before = key;
  }
  const problem = metadataProblem(metadata);
  demand(problem === null, object, `metadata: ${problem}`);
  const body = bytes.subarray(end + 5);
  return { version, previous: previous?.[1] ?? null, metadata, body };
}

function readLine(object: string, line: string): readonly [key: string, value: string] {
  const colon = line.indexOf(': ');
  const name = line.slice(0, Math.max(colon, 0));
  const value = line.slice(colon + 2);
  const key = name.startsWith('meta.') ? name.slice(5) : name;
  demand(colon > 0 && (key !== name || BARE.has(key)), object, `has the line ${line}`);
  return [key, key === 'tags' ? tagsIn(value) : value];
}

/** What is wrong with metadata; null when nothing is. */
export function metadataProblem(metadata: OldMetadata): string | null {
  let bytes = 0;
  for (const [key, value] of metadata) {
    if (RESERVED.has(key)) return `${key} is reserved`;
    if (!/^[a-z0-9-]+$/.test(key)) return `${key} is no key`;
    if (/[\r\n]/.test(value) || !value.isWellFormed()) return `${key} has no such value`;
    if (key === 'retention' && retentionOf(value) === null) return `retention ${value}`;
    bytes += Buffer.byteLength(key) + Buffer.byteLength(key === 'tags' ? listOfTags(value) : value);
  }
  if (metadata.size > KEYS_MAX) return `${metadata.size} keys`;
  return bytes > METADATA_BYTES_MAX ? `${bytes} bytes` : null;
}

/** How many versions a write keeps; null when its metadata does not say. */
export function retentionOf(value: string | undefined): number | null {
  if (value === undefined || !/^\+?[0-9]+$/.test(value)) return null;
  const count = BigInt(value.replace('+', ''));
  return count >= 1n && count < 2n ** 63n ? Number(count) : null;
}

/** Metadata as they read back once they are stored. */
export function readBack(metadata: OldMetadata): OldMetadata {
  if (metadata.size === 0) return EMPTY;
  return new Map(
    [...metadata].map(([key, value]) => [key, key === 'tags' ? tagsIn(value) : value]),
  );
}

/** The tags of a list that commas part. */
export function splitTags(tags: string): readonly string[] {
  return tags
    .split(',')
    .map(trimGo)
    .filter((tag) => tag !== '');
}

/** What the body of a version is known by. */
export function bodyHashOf(body: Uint8Array): string {
  return `sha256-${sha256(body)}`;
}

/** Tab to carriage return, and the rest of Unicode's white space; U+FEFF is none. */
const SPACE = String.raw`[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]`;
const OUTER_SPACE = new RegExp(`^${SPACE}+|${SPACE}+$`, 'g');

/** Text without the white space of Unicode at both ends. */
export function trimGo(text: string): string {
  return text.replace(OUTER_SPACE, '');
}

/** Text that bytes must be. */
export function utf8(object: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new OldStoreError('integrity', object, 'is not UTF-8', error);
  }
}

function tagsIn(value: string): string {
  return splitTags(trimGo(value).replace(/^\[(.*)\]$/s, '$1')).join();
}

function listOfTags(value: string): string {
  return `[${splitTags(value).join(', ')}]`;
}
