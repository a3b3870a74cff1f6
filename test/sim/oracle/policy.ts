/** The oracle's own reading of a world's publish policy, as far as the simulation writes one. */

export const POLICY_PATH = '/.well-known/demarkus/policy.md';

type Metadata = { readonly [key: string]: string } | null;

/** What a policy asks of every write; empty when it only warns. */
export interface GhostPolicy {
  readonly blocks: boolean;
  readonly axes: readonly string[];
  readonly fields: readonly string[];
}

/** The policy that a document's body says: the first line of each directive counts. */
export function readPolicy(body: Uint8Array): GhostPolicy {
  const lines = Buffer.from(body).toString().split('\n');
  const said = (directive: string): string => {
    const line = lines.find((text) => text.trimStart().startsWith(directive)) ?? '';
    return line.trimStart().slice(directive.length).trim();
  };
  const names = (directive: string): string[] =>
    said(directive)
      .split(/[\s,]+/)
      .filter((name) => name !== '');
  const strictness = said('strictness:');
  const blocks = strictness === 'block' || strictness === 'ask';
  return { blocks, axes: names('require_tags:'), fields: names('require_fields:') };
}

/** What a write to `path` breaks, or null. */
export function policyProblem(
  policy: GhostPolicy,
  path: string,
  metadata: Metadata,
): string | null {
  if (!policy.blocks) return null;
  const tags = (metadata?.['tags'] ?? '').split(',').map((tag) => tag.trim());
  if (tags.every((tag) => tag === '')) return 'it has no tags';
  const has = (axis: string) => tags.some((tag) => tag.startsWith(`${axis}:`));
  const axis = policy.axes.find((name) => !has(name));
  if (axis !== undefined) return `it has no tag ${axis}:`;
  const typeless = path.endsWith('/index.md') || path.endsWith('/log.md');
  const field = policy.fields.find((name) => {
    return (metadata?.[name] ?? '').trim() === '' && !(name === 'type' && typeless);
  });
  return field === undefined ? null : `it has no ${field}`;
}
