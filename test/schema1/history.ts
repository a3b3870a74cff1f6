/** Histories of documents: versions in blocks of 256, and the manifest that names the blocks. */
import { blockOf, historyKey, manifestKey, sha256 } from './names.ts';
import type { OldObject } from './objects.ts';
import {
  encodeBlock,
  encodeManifest,
  type OldManifest,
  type OldRange,
  type OldVersionRecord,
} from './records.ts';

export interface BuiltHistory {
  readonly ranges: readonly OldRange[];
  readonly objects: readonly OldObject[];
}

/** The blocks of versions that follow one another. */
export function buildHistory(
  pathHash: string,
  versions: readonly OldVersionRecord[],
): BuiltHistory {
  const ranges: OldRange[] = [];
  const objects: OldObject[] = [];
  for (const entries of inBlocks(versions)) {
    const first = entries[0]?.version ?? 0;
    const last = first + entries.length - 1;
    const bytes = encodeBlock({ pathHash, first, last, entries });
    const hash = sha256(bytes);
    ranges.push({ first, last, hash });
    objects.push({ key: historyKey(hash), bytes });
  }
  return { ranges, objects };
}

/** A manifest and its hash. */
export function buildManifest(manifest: OldManifest): {
  readonly hash: string;
  readonly object: OldObject;
} {
  const bytes = encodeManifest(manifest);
  const hash = sha256(bytes);
  return { hash, object: { key: manifestKey(manifest.pathHash, hash), bytes } };
}

function inBlocks(versions: readonly OldVersionRecord[]): readonly OldVersionRecord[][] {
  const blocks = new Map<number, OldVersionRecord[]>();
  for (const version of versions) {
    const block = blockOf(version.version);
    const entries = blocks.get(block);
    if (entries === undefined) blocks.set(block, [version]);
    else entries.push(version);
  }
  return [...blocks.values()];
}
