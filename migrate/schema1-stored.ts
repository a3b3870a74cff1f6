/** The bytes of a schema 1 world's versions, each held against all that is told of it. */
import type { BlobStore } from '../blob/blob.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { readAhead } from '../bucketstore/base/read-ahead.ts';
import type { StoredVersion } from '../bucketstore/document/stored.ts';
import { decodeSchema1Blob } from './schema1-blob.ts';
import type { Schema1Document } from './schema1-graph.ts';
import { isProblem, type Read, Schema1Reader, type Schema1ReadOptions } from './schema1-reader.ts';
import type { Schema1Version } from './schema1-records.ts';
import { chainProblem, tipCatalogProblem } from './schema1-rules.ts';

/** A version with its blob. */
export interface Schema1Stored {
  readonly document: Schema1Document;
  readonly record: Schema1Version;
  readonly stored: StoredVersion;
  readonly bytes: Uint8Array;
}

/** At most 1 MiB each. */
const BLOBS_AHEAD = 32;

/**
 * The retained versions of documents with their bytes, in order. One `get` for each. Damage is
 * thrown, or told and left out, as in `Schema1Graph`.
 */
export async function* readSchema1Stored(
  bucket: BlobStore,
  documents: AsyncIterable<Schema1Document>,
  options: Schema1ReadOptions = {},
): AsyncGenerator<Schema1Stored> {
  const reader = new Schema1Reader(bucket, options);
  const versions = readAhead(versionsOf(documents), BLOBS_AHEAD, (one) => read(reader, one));
  for await (const version of versions) {
    if (isProblem(version)) reader.report(version);
    else yield version;
  }
}

interface Place {
  readonly document: Schema1Document;
  readonly record: Schema1Version;
  /** Hash of the version before; null when there was none, undefined when it is not known. */
  readonly before: string | null | undefined;
}

async function* versionsOf(documents: AsyncIterable<Schema1Document>): AsyncGenerator<Place> {
  for await (const document of documents) {
    let last: Schema1Version | undefined;
    for (const record of document.versions) {
      const follows = last?.version === record.version - 1;
      const before = follows ? last?.storedHash : undefined;
      yield { document, record, before: record.version === 1 ? null : before };
      last = record;
    }
  }
}

async function read(
  reader: Schema1Reader,
  { document, record, before }: Place,
): Promise<Read<Schema1Stored>> {
  const { entry, shard } = document;
  const name = { kind: 'blob', hash: record.storedHash } as const;
  const found = await reader.read(name, (key, bytes) => {
    const stored = decodeSchema1Blob(key, bytes, record);
    const problem = before === undefined ? null : chainProblem(stored, before);
    if (problem !== null) throw integrityError(key, problem);
    const isTip = record.version === entry.version;
    const odd = isTip ? tipCatalogProblem(entry, stored, bytes) : null;
    if (odd !== null) throw integrityError(shard, `${odd}, in ${key}`);
    return { document, record, stored, bytes };
  });
  if (!isProblem(found)) return found;
  return { ...found, problem: `${found.problem} (${entry.path} version ${record.version})` };
}
