/**
 * The stored versions that verification has not met in slots: those in blobs, and those of
 * documents that a checkpoint brought, whose slots are gone.
 */
import type { BlobStore } from '../blob/index.ts';
import { documentsOf } from '../checkpoint/documents-of.ts';
import type { CheckpointLoader } from '../checkpoint/load.ts';
import { readAhead } from './base/read-ahead.ts';
import { blobKey } from './log/names.ts';
import { integrityProblem, type Problem } from './log/problems.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import type { StoredAt } from './snapshot/state.ts';
import {
  type DescribedVersion,
  sizeProblem,
  stagedVersions,
  versionProblem,
} from './verify-rules.ts';

export interface BodiesParts {
  readonly bucket: BlobStore;
  readonly loader: CheckpointLoader;
  readonly deep: boolean;
  readonly signal: AbortSignal | undefined;
}

/** What was looked at, and where. */
export interface CheckedBody {
  readonly kind: 'blob' | 'packed';
  /** null: nothing is wrong. */
  readonly problem: Problem | null;
}

const READ_AHEAD = 16;

/**
 * Every retained version in a blob: one `head`, or one `get` when `deep`. And when `deep`, every
 * retained version in a pack whose slot is not there: one or two `get`s.
 * @param packedThrough of the checkpoint that the replay began with: what is inlined behind it lies
 *   in slots, and was met there
 */
export async function* checkBodies(
  parts: BodiesParts,
  state: Snapshot,
): AsyncGenerator<CheckedBody> {
  const versions = versionsOf(state, parts);
  yield* readAhead(versions, READ_AHEAD, (version) => checkBody(parts, version));
}

async function* versionsOf(state: Snapshot, parts: BodiesParts): AsyncGenerator<DescribedVersion> {
  yield* stagedVersions(state);
  for (const path of documentsOf(state)) {
    if (state.base.head(path) === undefined) continue;
    for await (const version of versionsInBase(state, path)) {
      const { at } = version.record;
      if ('epoch' in at || (parts.deep && at.seq <= state.base.packedThrough)) yield version;
    }
  }
}

/** The retained versions of a document that a checkpoint brought. */
async function* versionsInBase(state: Snapshot, path: string): AsyncGenerator<DescribedVersion> {
  const options = { lane: 'bulk' } as const;
  const first = state.head(path)?.first ?? 1;
  const records = await state.base.versions(path, options);
  const retained = records.filter(({ version }) => version >= first);
  for (const [index, record] of retained.entries()) {
    const before = retained[index + 1]?.storedHash;
    const isCurrent = record.version === state.base.head(path)?.version;
    yield {
      path,
      record,
      previousHash: record.version === 1 ? null : before,
      catalog: isCurrent ? (await state.base.details(path, options)).catalog : undefined,
    };
  }
}

async function checkBody(parts: BodiesParts, version: DescribedVersion): Promise<CheckedBody> {
  const { at, storedHash } = version.record;
  const { path, record } = version;
  const key = 'epoch' in at ? blobKey(at.epoch, storedHash) : path;
  const kind = 'epoch' in at ? 'blob' : 'packed';
  const where = `${path} version ${record.version}`;
  try {
    const problem = await bodyProblem(parts, version, at);
    if (problem === null) return { kind, problem: null };
    const text = problem === 'missing' ? `missing, and ${where} is in it` : problem;
    return { kind, problem: { object: key, problem: text } };
  } catch (error) {
    return { kind, problem: integrityProblem(error, key) };
  }
}

/** `missing`, or what else is wrong, or null. */
async function bodyProblem(
  { bucket, loader, deep, signal }: BodiesParts,
  version: DescribedVersion,
  at: StoredAt,
): Promise<string | null> {
  const { storedHash } = version.record;
  const options = { signal, lane: 'bulk' } as const;
  if ('seq' in at) {
    const bytes = await loader.readPacked(at.seq, storedHash, options);
    return bytes === null
      ? `version ${version.record.version}: in no pack`
      : versionProblem(version, bytes);
  }
  const key = blobKey(at.epoch, storedHash);
  if (deep) {
    const found = await bucket.get(key, options);
    return found.found ? versionProblem(version, found.bytes) : 'missing';
  }
  const found = await bucket.head(key, options);
  return found.found ? sizeProblem(found.attributes.size) : 'missing';
}
