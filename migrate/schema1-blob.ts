/**
 * Blobs: stored versions (`bucketstore/document/stored.ts`), byte for byte as the new format has
 * them.
 *
 * LAYOUT. `blobs/<hash>`: a stored version.
 *
 * VALIDITY. The grammar of stored versions; its number and the hash of its body are those of its
 * record in the history block. That it names the version before is `chainProblem`'s.
 */
import { integrityError } from '../bucketstore/base/errors.ts';
import {
  inspectStored,
  type StoredVersion,
  StoredVersionError,
} from '../bucketstore/document/stored.ts';
import { openObject } from './schema1-object.ts';
import type { Schema1Version } from './schema1-records.ts';
import { recordStoredProblem } from './schema1-rules.ts';

/**
 * The stored version that bytes hold, once found to be the one that `record` describes.
 * @param key its key, whose hash the bytes must have
 * @throws StoreError INTEGRITY naming the object and the line
 */
export function decodeSchema1Blob(
  key: string,
  bytes: Uint8Array,
  record: Schema1Version,
): StoredVersion {
  openObject('blob', key, bytes);
  const stored = inspect(key, bytes);
  const problem = recordStoredProblem(record, stored, bytes);
  if (problem !== null) throw integrityError(key, problem);
  return stored;
}

function inspect(key: string, bytes: Uint8Array): StoredVersion {
  try {
    return inspectStored(bytes);
  } catch (error) {
    if (!(error instanceof StoredVersionError)) throw error;
    throw integrityError(key, error.message, error);
  }
}
