/**
 * Stored versions: the bytes of one version of a document, which are its identity (the ETag is
 * their SHA-256) and the link to the version before.
 *
 *   ---\n
 *   version: 2\n
 *   archived: false\n
 *   previous-hash: sha256-<64 hex>\n      of the whole stored version before; version 1 has none
 *   <one line for each metadata key>\n    ascending by bare key: `title: T`, `meta.owner: x`
 *   ---\n
 *   <body, byte for byte>
 *
 * `type title description resource tags timestamp` stand bare, other keys behind `meta.`; tags are
 * a list, `[a, b]`; nothing is quoted or escaped. Only the first pair of fences is the store's: a
 * body may begin with its own. `archived` is always false in what is written here, and true only in
 * what older tools wrote; whether a document is archived is told by the log.
 *
 * Readers are strict: but for `archived`, the spelling of tags and a retention beyond 2^31 − 1,
 * where older tools differ, what is accepted is what `storeVersion` writes for it, byte for byte.
 */
import { COLON, NEWLINE, SPACE } from '../base/ascii.ts';
import { assert } from '../base/assert.ts';
import { isSha256Hex } from '../base/digest.ts';
import { compareUtf8 } from '../base/order.ts';
import { BODY_BYTES_MAX, formatHash, parseHash } from './body.ts';
import {
  checkMetadata,
  checkStoredMetadata,
  emptyMetadata,
  formatTags,
  isReservedKey,
  type Metadata,
  normaliseRetention,
  parseTags,
} from './metadata.ts';
import { decodeUtf8, utf8Length } from './text.ts';

/** Most versions a document can have. */
export const DOCUMENT_VERSION_MAX = 2_147_483_647;
/** What the store's own block may add to a body; no block that it writes comes near. */
export const STORED_HEADER_BYTES_MAX = 2048;
/** Largest stored version, bytes. */
export const STORED_BYTES_MAX: number = BODY_BYTES_MAX + STORED_HEADER_BYTES_MAX;

const OPEN = '---\n';
const CLOSE = '\n---\n';
const META = 'meta.';
const BARE_KEYS: ReadonlySet<string> = new Set([
  'type',
  'title',
  'description',
  'resource',
  'tags',
  'timestamp',
]);

/** What a stored version is made of. */
export interface VersionContent {
  /** 1 to `DOCUMENT_VERSION_MAX`. */
  readonly version: number;
  /** SHA-256 of the whole stored version before, 64 hex; null for version 1, and only for it. */
  readonly previousHash: string | null;
  /** Normalised and checked. */
  readonly metadata: Metadata | null;
  readonly body: Uint8Array;
}

/** What a stored version says; its body is `bytes.subarray(bodyOffset)`. */
export interface StoredVersion {
  readonly version: number;
  readonly archived: boolean;
  /** 64 hex; null for version 1. */
  readonly previousHash: string | null;
  /** Normalised; shares no memory with the bytes. */
  readonly metadata: Metadata | null;
  readonly bodyOffset: number;
}

/** Bytes that are no stored version. The message names the line, the first being line 1. */
export class StoredVersionError extends Error {
  override readonly name = 'StoredVersionError';
  readonly line: number;

  constructor(line: number, problem: string) {
    super(`line ${line}: ${problem}`);
    this.line = line;
  }
}

/**
 * The bytes of a version, in a buffer of their own.
 * @throws InvariantError when version and previous hash do not fit each other, or the metadata is
 * invalid
 */
export function storeVersion(content: VersionContent): Uint8Array {
  const header = headerOf(content);
  const headerBytes = utf8Length(header);
  const bytes = new Uint8Array(headerBytes + content.body.length);
  encoder.encodeInto(header, bytes);
  bytes.set(content.body, headerBytes);
  return bytes;
}

/**
 * What a stored version says, after every check of its grammar.
 * @throws StoredVersionError for bytes that are none
 */
export function inspectStored(bytes: Uint8Array): StoredVersion {
  const lines = new HeaderLines(bytes);
  const version = readVersion(lines.next());
  const archived = readArchived(lines.next());
  const previousHash = version > 1 ? readPreviousHash(lines.next()) : null;
  const metadata = readMetadata(lines);
  if (bytes.length - lines.bodyOffset > BODY_BYTES_MAX) {
    throw new StoredVersionError(lines.count, `the body is longer than ${BODY_BYTES_MAX} bytes`);
  }
  return { version, archived, previousHash, metadata, bodyOffset: lines.bodyOffset };
}

const encoder = new TextEncoder();

function headerOf({ version, previousHash, metadata }: VersionContent): string {
  assert(isVersion(version), () => `version ${version} is not one of 1 to 2^31 - 1`);
  const linked = previousHash !== null && isSha256Hex(previousHash);
  assert(version === 1 ? previousHash === null : linked, () => {
    return `version ${version} with previous hash ${previousHash}`;
  });
  const problem = checkMetadata(metadata);
  assert(problem === null, () => `metadata ${problem?.key ?? ''}: ${problem?.reason}`);
  let header = `${OPEN}version: ${version}\narchived: false\n`;
  if (previousHash !== null) header += `previous-hash: ${formatHash(previousHash)}\n`;
  if (metadata !== null) {
    for (const key of Object.keys(metadata).sort(compareUtf8)) {
      const value = metadata[key] ?? '';
      header += BARE_KEYS.has(key) ? key : META + key;
      header += `: ${key === 'tags' ? formatTags(value) : value}\n`;
    }
  }
  return header + OPEN;
}

function isVersion(version: number): boolean {
  return Number.isInteger(version) && version >= 1 && version <= DOCUMENT_VERSION_MAX;
}

/**
 * A line of the block; key and value are decoded apart, so that neither keeps a larger text alive.
 */
interface HeaderLine {
  readonly number: number;
  readonly key: string;
  readonly value: string;
}

/** Walks the lines between the fences. */
class HeaderLines {
  readonly bodyOffset: number;
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #position: number = OPEN.length;
  #number = 1;

  constructor(bytes: Uint8Array) {
    if (bytes.length > STORED_BYTES_MAX) {
      throw new StoredVersionError(1, `longer than ${STORED_BYTES_MAX} bytes`);
    }
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (text.indexOf(OPEN) !== 0) throw new StoredVersionError(1, 'does not begin with "---"');
    // The newline of the opening fence may be the one before the closing fence: an empty block.
    const close = text.indexOf(CLOSE, OPEN.length - 1);
    if (close === -1) throw new StoredVersionError(1, 'its block is never closed');
    this.#bytes = bytes;
    this.#end = close + 1;
    this.bodyOffset = close + CLOSE.length;
  }

  /** Lines read so far, the opening fence included. */
  get count(): number {
    return this.#number;
  }

  get done(): boolean {
    return this.#position >= this.#end;
  }

  next(): HeaderLine {
    this.#number++;
    if (this.done) throw new StoredVersionError(this.#number, 'the block ends too early');
    const start = this.#position;
    const end = this.#bytes.indexOf(NEWLINE, start);
    this.#position = end + 1;
    const colon = this.#bytes.indexOf(COLON, start);
    if (colon === -1 || colon >= end || this.#bytes[colon + 1] !== SPACE) {
      throw new StoredVersionError(this.#number, 'is not "key: value"');
    }
    const key = decodeUtf8(this.#bytes.subarray(start, colon));
    const value = decodeUtf8(this.#bytes.subarray(colon + 2, end));
    if (key === null || value === null) {
      throw new StoredVersionError(this.#number, 'is not UTF-8');
    }
    return { number: this.#number, key, value };
  }
}

function readVersion({ number, key, value }: HeaderLine): number {
  const version = Number(value);
  if (key !== 'version' || !/^[1-9][0-9]{0,9}$/.test(value) || !isVersion(version)) {
    throw new StoredVersionError(number, 'is not "version: N", N from 1 to 2^31 - 1');
  }
  return version;
}

function readArchived({ number, key, value }: HeaderLine): boolean {
  if (key !== 'archived' || (value !== 'true' && value !== 'false')) {
    throw new StoredVersionError(number, 'is not "archived: true" or "archived: false"');
  }
  return value === 'true';
}

function readPreviousHash({ number, key, value }: HeaderLine): string {
  const hash = key === 'previous-hash' ? parseHash(value) : null;
  if (hash === null) {
    throw new StoredVersionError(number, 'is not "previous-hash: sha256-" and 64 hex digits');
  }
  return hash;
}

function readMetadata(lines: HeaderLines): Metadata | null {
  if (lines.done) return null;
  const metadata = emptyMetadata();
  let last = '';
  while (!lines.done) {
    const { number, key, value } = lines.next();
    const bare = bareKey(key);
    if (bare === null) throw new StoredVersionError(number, `has an unknown key "${key}"`);
    if (compareUtf8(bare, last) <= 0) {
      throw new StoredVersionError(number, `"${bare}" does not come after "${last}"`);
    }
    metadata[bare] = bare === 'tags' ? parseTags(value) : value;
    last = bare;
  }
  const problem = checkStoredMetadata(metadata);
  if (problem !== null) {
    const where = problem.key === null ? 'metadata' : `metadata "${problem.key}"`;
    throw new StoredVersionError(lines.count, `${where}: ${problem.reason}`);
  }
  const retention = metadata['retention'];
  if (retention !== undefined) metadata['retention'] = normaliseRetention(retention);
  return Object.freeze(metadata);
}

/**
 * The key without its prefix; null for a key that no line may have. `meta.tags` is an older form.
 */
function bareKey(key: string): string | null {
  if (BARE_KEYS.has(key)) return key;
  if (!key.startsWith(META)) return null;
  const bare = key.slice(META.length);
  return bare === '' || isReservedKey(bare) ? null : bare;
}
