/** Whether the old store takes a request, and what it makes of it. Reads the current version. */
import { isUtf8 } from 'node:buffer';
import type { BlobStore } from '../../blob/blob.ts';
import type { OldVersion } from './document.ts';
import { OldStoreError } from './error.ts';
import { checkDocumentPath, VERSION_MAX } from './names.ts';
import { checkTip, readHistory, readManifest, readVersion } from './read.ts';
import type { OldBlock, OldEntry, OldManifest } from './records.ts';
import type { OldSnapshot } from './snapshot.ts';
import { BODY_BYTES_MAX, metadataProblem, type OldMetadata, readBack, trimGo } from './stored.ts';

export interface WriteRequest {
  readonly op: 'publish' | 'append';
  readonly path: string;
  /** The whole body, or what is appended. */
  readonly content: Uint8Array;
  readonly metadata: OldMetadata;
  /** The version that must be current; 0 for none, below 0 for any. */
  readonly expected: number;
}

export interface ToggleRequest {
  readonly op: 'archive' | 'unarchive';
  readonly path: string;
}

export type OldRequest = WriteRequest | ToggleRequest;

/** A document as a write finds it. */
export interface Present {
  readonly entry: OldEntry;
  readonly manifest: OldManifest;
  /** The block that holds the current version. */
  readonly block: OldBlock;
  readonly tip: OldVersion;
}

/** A write that is taken. */
export interface JudgedWrite {
  readonly present: Present | null;
  readonly body: Uint8Array;
  readonly metadata: OldMetadata;
}

/**
 * What is to be written; null when it is there already.
 * @throws OldStoreError `not-found`, `conflict`, `collision`, `archived` or `invalid`
 */
export async function judgeWrite(
  bucket: BlobStore,
  snapshot: OldSnapshot,
  request: WriteRequest,
): Promise<JudgedWrite | null> {
  const { op, path, expected } = request;
  const entry = findForChange(snapshot, path);
  const current = entry?.current ?? 0;
  if (op === 'append') {
    if (expected < 1 || request.content.length === 0) throw refusal('invalid', path, 'no append');
    if (entry === null) throw refusal('not-found', path, 'does not exist');
  }
  if (expected >= 0 && expected !== current) {
    throw refusal('conflict', path, `has version ${current}, not ${expected}`);
  }
  if (entry === null && snapshot.collides(path)) {
    throw refusal('collision', path, 'lies above or below a document');
  }
  if (entry?.archived === true) throw refusal('archived', path, 'is archived');
  if (current === VERSION_MAX) throw refusal('invalid', path, 'has no versions left');
  const present = entry === null ? null : await loadPresent(bucket, entry);
  const written = op === 'append' && present !== null ? appended(request, present) : request;
  const { content: body, metadata } = written;
  if (body.length > BODY_BYTES_MAX || !isUtf8(body)) throw refusal('invalid', path, 'its body');
  const problem = metadataProblem(metadata);
  if (problem !== null) throw refusal('invalid', path, `metadata: ${problem}`);
  const same = present !== null && op === 'publish' && isSame(present.tip, body, metadata);
  return same ? null : { present, body, metadata };
}

/**
 * The document to archive or to unarchive; null when it is so already.
 * @throws OldStoreError `not-found`
 */
export function judgeToggle(snapshot: OldSnapshot, { op, path }: ToggleRequest): OldEntry | null {
  const entry = findForChange(snapshot, path);
  if (entry === null) throw refusal('not-found', path, 'does not exist');
  return entry.archived === (op === 'archive') ? null : entry;
}

/** An impossible path looks like one where nothing is. */
function findForChange(snapshot: OldSnapshot, path: string): OldEntry | null {
  try {
    checkDocumentPath(path, path);
  } catch (error) {
    throw new OldStoreError('not-found', path, 'is no path of a document', error);
  }
  return snapshot.find(path);
}

async function loadPresent(bucket: BlobStore, entry: OldEntry): Promise<Present> {
  const manifest = await readManifest(bucket, entry);
  const range = manifest.history.at(-1);
  const block = range && (await readHistory(bucket, entry, range));
  const record = block?.entries.at(-1);
  if (block === undefined || record === undefined) {
    throw refusal('integrity', entry.path, 'has no history');
  }
  checkTip(entry, record);
  return { entry, manifest, block, tip: await readVersion(bucket, record) };
}

/** The whole body and all metadata that an append comes to. */
function appended(
  request: WriteRequest,
  { tip }: Present,
): { readonly content: Uint8Array; readonly metadata: OldMetadata } {
  const ended = tip.body.length === 0 || tip.body.at(-1) === 0x0a;
  const content = Buffer.concat([tip.body, Buffer.from(ended ? '' : '\n'), request.content]);
  const metadata = new Map([...tip.metadata, ...request.metadata]);
  if (!request.metadata.has('retention')) metadata.delete('retention');
  const name = request.path.slice(request.path.lastIndexOf('/') + 1);
  const typed = trimGo(metadata.get('type') ?? '') !== '';
  if (!typed && name !== 'index.md' && name !== 'log.md') metadata.set('type', 'Document');
  return { content, metadata };
}

function isSame(tip: OldVersion, body: Uint8Array, metadata: OldMetadata): boolean {
  const wanted = readBack(metadata);
  if (wanted.size !== tip.metadata.size || Buffer.compare(tip.body, body) !== 0) return false;
  return [...wanted].every(([key, value]) => tip.metadata.get(key) === value);
}

function refusal(code: OldStoreError['code'], path: string, problem: string): OldStoreError {
  return new OldStoreError(code, path, problem);
}
