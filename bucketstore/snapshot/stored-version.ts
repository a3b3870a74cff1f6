/**
 * Whether the bytes in the place of a stored version are the version that its record names. Pure.
 */
import { sha256Hex } from '../base/digest.ts';
import { integrityError } from '../base/errors.ts';
import { bodyHash } from '../document/body.ts';
import type { Metadata } from '../document/metadata.ts';
import { inspectStored, type StoredVersion } from '../document/stored.ts';
import type { VersionRecord } from './state.ts';

/** What a stored version holds. */
export interface OpenedVersion {
  /** A copy: the caller may change it. */
  readonly body: Uint8Array;
  readonly metadata: Metadata | null;
}

/**
 * Takes a stored version apart, after every check that its record allows.
 * @throws StoreError `INTEGRITY` naming the document and version
 */
export function openStored(path: string, record: VersionRecord, stored: Uint8Array): OpenedVersion {
  const { version, bodyOffset, metadata } = inspect(path, record, stored);
  // Not `slice`: of a Buffer, which a driver may give, that is a view of the cached bytes.
  const body = new Uint8Array(stored.subarray(bodyOffset));
  if (version !== record.version) throw broken(path, record, `holds version ${version}`);
  if (bodyHash(body) !== record.bodyHash) throw broken(path, record, 'its body hash is another');
  return { body, metadata };
}

/** `openStored` and the hash of the whole. @throws StoreError `INTEGRITY` */
export function checkStored(path: string, record: VersionRecord, stored: Uint8Array): void {
  openStored(path, record, stored);
  if (sha256Hex(stored) !== record.storedHash) {
    throw broken(path, record, `its bytes do not have the hash ${record.storedHash}`);
  }
}

/** Checks that a version names the hash of the bytes before it. @throws StoreError `INTEGRITY` */
export function checkLink(
  path: string,
  record: VersionRecord,
  stored: Uint8Array,
  before: Uint8Array,
): void {
  const want = sha256Hex(before);
  const got = previousHashOf(stored);
  if (got === null) throw broken(path, record, 'missing previous-hash');
  if (got !== want) throw broken(path, record, `chain broken: want ${want}, got ${got}`);
}

/** The third line of a stored version, whatever the rest of it is. */
function previousHashOf(stored: Uint8Array): string | null {
  const head = Buffer.from(stored.subarray(0, 256)).toString('latin1');
  return /^---\n[^\n]*\n[^\n]*\nprevious-hash: sha256-([0-9a-f]{64})\n/.exec(head)?.[1] ?? null;
}

function inspect(path: string, record: VersionRecord, stored: Uint8Array): StoredVersion {
  try {
    return inspectStored(stored);
  } catch (error) {
    throw broken(path, record, error instanceof Error ? error.message : String(error), error);
  }
}

function broken(path: string, record: VersionRecord, problem: string, cause?: unknown): Error {
  return integrityError(path, `stored version ${record.version}: ${problem}`, cause);
}
