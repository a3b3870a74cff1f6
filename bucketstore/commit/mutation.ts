/**
 * Requests for a change, and what is wrong with them alone: checked once, before anything is
 * queued.
 */
import { StoreError } from '../base/errors.ts';
import { uuidOf } from '../base/uuid.ts';
import { BODY_BYTES_MAX } from '../document/body.ts';
import {
  checkMetadata,
  emptyMetadata,
  type Metadata,
  type MetadataProblem,
  normaliseMetadata,
} from '../document/metadata.ts';
import { canonicalPath, isDocumentPath } from '../document/path.ts';
import { isUtf8 } from '../document/text.ts';
import type { StateReader } from '../snapshot/reader.ts';

/**
 * What the writer believes the document is now: a version, an ETag, that it is absent, or nothing.
 * `'any'` is a blind write: it never conflicts, it lands on whatever is current.
 */
export type Expected = number | { readonly etag: string } | 'absent' | 'any';

/** What a precondition is shown: the write as it would be stored. */
export interface PreparedWrite {
  readonly path: string;
  /** An append's is already merged. */
  readonly body: Uint8Array;
  readonly metadata: Metadata | null;
}

/**
 * Refuses a write by throwing; what it throws is the caller's answer. Runs at the tip, after the
 * store's own checks and before anything is stored, and again whenever something it read has
 * changed.
 */
export type Precondition<Prepared> = (
  state: StateReader,
  prepared: Prepared,
) => void | Promise<void>;

/** Makes a new version whose body is `body`. */
export interface PublishRequest {
  readonly path: string;
  readonly expected: Expected;
  /** Text counts as its UTF-8 bytes. At most 1 MiB. */
  readonly body: Uint8Array | string;
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
  readonly precondition?: Precondition<PreparedWrite> | undefined;
}

/** Makes a new version by adding to the body and overlaying the metadata. */
export interface AppendRequest {
  readonly path: string;
  readonly expected: number | { readonly etag: string };
  /** Not empty. A newline goes in front of it unless the body is empty or ends in one. */
  readonly content: Uint8Array | string;
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
  readonly precondition?: Precondition<PreparedWrite> | undefined;
}

/** Archives a document or brings it back; makes no version. */
export interface ArchiveRequest {
  readonly path: string;
  readonly archived: boolean;
  /** Default `'any'`. */
  readonly expected?: Expected | undefined;
  readonly precondition?: Precondition<ArchivePrepared> | undefined;
}

export interface ArchivePrepared {
  readonly path: string;
  readonly archived: boolean;
}

/** One change of a group. */
export type MutationRequest =
  | ({ readonly kind: 'publish' } & PublishRequest)
  | ({ readonly kind: 'append' } & AppendRequest)
  | ({ readonly kind: 'archive' } & ArchiveRequest);

/** A change whose own words are in order: path canonical, body bytes, metadata normalised. */
export type Mutation =
  | {
      readonly kind: 'publish' | 'append';
      readonly op: string;
      readonly path: string;
      readonly expected: Expected;
      /** The body, or what is added to it. */
      readonly content: Uint8Array;
      readonly metadata: Metadata | null;
      readonly precondition: Precondition<PreparedWrite> | undefined;
    }
  | {
      readonly kind: 'archive';
      readonly op: string;
      readonly path: string;
      readonly expected: Expected;
      readonly archived: boolean;
      readonly precondition: Precondition<ArchivePrepared> | undefined;
    };

/**
 * Checks a request by itself and gives it its canonical form. Nothing of the caller's is kept.
 * @throws StoreError `INVALID_PATH`, `INVALID_CONTENT`, `INVALID_META`, `SIZE_LIMIT`: not committed
 * @throws TypeError or RangeError for an expectation that says nothing
 */
export function parseMutation(request: MutationRequest, op: string): Mutation {
  switch (request.kind) {
    case 'archive':
      return parseArchive(request, op);
    case 'append':
      return parseAppend(request, op);
    case 'publish':
      return parsePublish(request, op);
    default:
      return request satisfies never;
  }
}

/** As `parseMutation`, for each of a group. @param op the first one's; the others are made of it */
export function parseGroup(requests: readonly MutationRequest[], op: string): readonly Mutation[] {
  return requests.map((request, index) => {
    return parseMutation(request, index === 0 ? op : uuidOf(`${op} ${index}`));
  });
}

/** As `parseMutation`. */
export function parsePublish(request: PublishRequest, op: string): Mutation {
  return parseWrite('publish', op, request, parsePath(request.path), request.body);
}

/** As `parseMutation`. */
export function parseAppend(request: AppendRequest, op: string): Mutation {
  const path = parsePath(request.path);
  if (request.content.length === 0) {
    throw new StoreError('INVALID_CONTENT', `append to ${path}: there is nothing to append`);
  }
  if (request.expected === 0) throw new RangeError('append expects version 1 or later, got 0');
  return parseWrite('append', op, request, path, request.content);
}

/** As `parseMutation`. */
export function parseArchive(request: ArchiveRequest, op: string): Mutation {
  const path = parsePath(request.path);
  const { archived, precondition } = request;
  const expected = parseExpected(request.expected ?? 'any');
  return { kind: 'archive', op, path, expected, archived, precondition };
}

/**
 * A path that a document may have, made canonical. @throws StoreError `INVALID_PATH` saying why not
 */
function parsePath(request: string): string {
  const path = canonicalPath(request);
  if (path === null || !isDocumentPath(path)) {
    throw new StoreError(
      'INVALID_PATH',
      `${JSON.stringify(request.slice(0, 200))} cannot be a document: no ".." segment, no ` +
        'control characters, at most 4087 bytes, not the root',
      { details: { path: request } },
    );
  }
  return path;
}

/** Metadata made normal. @throws StoreError `INVALID_META` naming the key */
function parseMetadata(
  metadata: Readonly<Record<string, string>> | null | undefined,
): Metadata | null {
  if (metadata === null || metadata === undefined) return null;
  // A copy: the caller's object may change while the request waits.
  const copy = Object.assign(emptyMetadata(), metadata);
  const problem = checkMetadata(copy);
  if (problem !== null) throw metadataError(problem);
  return normaliseMetadata(copy);
}

export function metadataError(problem: MetadataProblem): StoreError {
  const { key, reason } = problem;
  return key === null
    ? new StoreError('INVALID_META', `metadata: ${reason}`)
    : new StoreError('INVALID_META', `metadata key "${key}": ${reason}`, { details: { key } });
}

function parseWrite(
  kind: 'publish' | 'append',
  op: string,
  { expected, metadata, precondition }: PublishRequest | AppendRequest,
  path: string,
  content: Uint8Array | string,
): Mutation {
  return {
    kind,
    op,
    path,
    expected: parseExpected(expected),
    content: typeof content === 'string' ? encodeText(path, content) : copyText(path, content),
    metadata: parseMetadata(metadata),
    precondition,
  };
}

const encoder = new TextEncoder();

function encodeText(path: string, text: string): Uint8Array {
  if (!text.isWellFormed()) {
    throw new StoreError('INVALID_CONTENT', `${path}: the text is not well-formed Unicode`);
  }
  const bytes = encoder.encode(text);
  if (bytes.byteLength > BODY_BYTES_MAX) throw sizeError(path, bytes.byteLength);
  return bytes;
}

function copyText(path: string, content: Uint8Array): Uint8Array {
  // Not by `slice`: the caller may hand in a Buffer, whose `slice` is a view.
  const bytes = new Uint8Array(content);
  if (bytes.byteLength > BODY_BYTES_MAX) throw sizeError(path, bytes.byteLength);
  if (!isUtf8(bytes)) throw new StoreError('INVALID_CONTENT', `${path}: not valid UTF-8`);
  return bytes;
}

export function sizeError(path: string, bytes: number): StoreError {
  return new StoreError(
    'SIZE_LIMIT',
    `${path}: a body is at most ${BODY_BYTES_MAX} bytes, this one has ${bytes}`,
    { details: { path } },
  );
}

function parseExpected(expected: Expected): Expected {
  if (expected === 'absent' || expected === 'any') return expected;
  if (typeof expected === 'number') {
    if (!Number.isSafeInteger(expected) || expected < 0) {
      throw new RangeError(`expected is a version of 0 or more, got ${expected}; blind is 'any'`);
    }
    return expected === 0 ? 'absent' : expected;
  }
  if (typeof expected !== 'object' || !/^[0-9a-f]{64}$/.test(expected.etag)) {
    throw new TypeError("expected is a version, { etag: 64 hex }, 'absent' or 'any'");
  }
  return { etag: expected.etag };
}

/** Whether two requests ask for the same change; metadata and conditions are not compared. */
export function isSameRequest(a: readonly Mutation[], b: readonly Mutation[]): boolean {
  return a.length === b.length && a.every((one, index) => isSameMutation(one, b[index]));
}

function isSameMutation(a: Mutation, b: Mutation | undefined): boolean {
  if (b === undefined || a.path !== b.path) return false;
  if (a.kind === 'archive' || b.kind === 'archive') {
    return a.kind === 'archive' && b.kind === 'archive' && a.archived === b.archived;
  }
  return a.kind === b.kind && Buffer.compare(a.content, b.content) === 0;
}
