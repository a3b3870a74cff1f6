/** The bytes of a stored version and their hash, spelled out once more: the model's own. */
import { createHash } from 'node:crypto';

const BARE = new Set(['type', 'title', 'description', 'resource', 'tags', 'timestamp']);

/** SHA-256 of a stored version. */
export function etagOf(
  version: number,
  previous: string | undefined,
  metadata: ReadonlyMap<string, string>,
  body: string,
): string {
  const lines = [`version: ${version}`, 'archived: false'];
  if (previous !== undefined) lines.push(`previous-hash: sha256-${previous}`);
  for (const key of [...metadata.keys()].sort(byBytes)) {
    const value = metadata.get(key) ?? '';
    const spelled = key === 'tags' ? `[${splitTags(value).join(', ')}]` : value;
    lines.push(`${BARE.has(key) ? key : `meta.${key}`}: ${spelled}`);
  }
  return createHash('sha256')
    .update(`---\n${lines.join('\n')}\n---\n${body}`)
    .digest('hex');
}

/** The tags of a list that commas part. */
export function splitTags(tags: string): readonly string[] {
  return tags.split(',').flatMap((tag) => (tag.trim() === '' ? [] : [tag.trim()]));
}

/** Metadata as lines that compare. */
export function linesOf(metadata: Iterable<readonly [string, string]>): readonly string[] {
  return [...metadata].map(([key, value]) => `${key}=${value}`).sort(byBytes);
}

/** The order of UTF-8 bytes. */
export function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
