/**
 * The publish policy of a world: a document at a fixed path whose body says, in lines of its own
 * among any prose, what a write must bring along.
 *
 *   strictness: warn | block | ask
 *   require_tags: area, team           axes: a tag `area:…` and a tag `team:…`
 *   require_fields: title owner        metadata keys that must not be blank
 *
 * The first line that begins with a directive, after spaces and tabs, counts. Lists are split at
 * commas and white space.
 */
import {
  isReservedKey,
  isTypeless,
  METADATA_BYTES_MAX,
  METADATA_KEYS_MAX,
  type Metadata,
  pairBytes,
  parseImportance,
  splitTags,
} from './metadata.ts';
import { isBlank, splitSpace, trimSpace, utf8Length } from './text.ts';

/** Where a world's policy is. */
export const POLICY_PATH = '/.well-known/demarkus/policy.md';
/** Most axes, and most fields. */
const POLICY_NAMES_MAX = 50;
/** Longest axis or field, bytes. */
const POLICY_NAME_BYTES_MAX = 64;

/** What a violation leads to: the write passes with a warning, is refused, or needs an approval. */
export type Strictness = 'warn' | 'block' | 'ask';

/** What a policy document says, also where it says what may not be written any more. */
export interface Policy {
  /** The text given; null when there is no such line. `strictnessOf` says what it means. */
  readonly strictness: string | null;
  readonly axes: readonly string[];
  readonly fields: readonly string[];
}

/** One rule that a write breaks. `name` is the axis or field. */
export type Violation =
  | { readonly kind: 'missing-tags' | 'invalid-importance' }
  | { readonly kind: 'missing-tag-axis' | 'missing-field'; readonly name: string };

/** What is wrong with a policy that is being written. */
export interface PolicyProblem {
  readonly directive: 'strictness' | 'require_tags' | 'require_fields';
  readonly reason: string;
}

/** Reads a policy. Never fails: unknown lines are prose. */
export function parsePolicy(text: string): Policy {
  const found = new Map<string, string>();
  for (const line of text.split('\n')) {
    const start = indentOf(line);
    for (const directive of DIRECTIVES) {
      if (line.startsWith(directive, start) && !found.has(directive)) {
        found.set(directive, trimSpace(line.slice(start + directive.length)));
      }
    }
  }
  return {
    strictness: found.get(STRICTNESS) ?? null,
    axes: names(found.get(REQUIRE_TAGS)),
    fields: names(found.get(REQUIRE_FIELDS)),
  };
}

/** What violations lead to: an absent or unknown strictness is `warn`. */
export function strictnessOf({ strictness }: Policy): Strictness {
  return isStrictness(strictness) ? strictness : 'warn';
}

/**
 * The first thing wrong with a policy document that is about to be written; null when nothing is.
 */
export function checkPolicyDocument(text: string): PolicyProblem | null {
  const policy = parsePolicy(text);
  if (policy.strictness !== null && !isStrictness(policy.strictness)) {
    const reason = `"${policy.strictness}" is not one of warn, block, ask`;
    return { directive: 'strictness', reason };
  }
  const axes = checkNames(policy.axes, axisProblem);
  if (axes !== null) return { directive: 'require_tags', reason: axes };
  const fields = checkNames(policy.fields, fieldProblem) ?? checkRoom(policy);
  return fields === null ? null : { directive: 'require_fields', reason: fields };
}

/**
 * What a write breaks, in order: tags, importance, axes and fields as the policy lists them. Axes
 * are looked at only when there are tags. Takes the final write: an append merged, as it will be
 * stored.
 */
export function evaluatePolicy(
  policy: Policy,
  { path, metadata }: { readonly path: string; readonly metadata: Metadata | null },
): Violation[] {
  const violations: Violation[] = [];
  const tags = splitTags(metadata?.['tags'] ?? '');
  if (tags.length === 0) violations.push({ kind: 'missing-tags' });
  const importance = metadata?.['importance'];
  if (importance !== undefined && parseImportance(importance) === null) {
    violations.push({ kind: 'invalid-importance' });
  }
  if (tags.length > 0) {
    for (const name of new Set(policy.axes)) {
      if (!tags.some((tag) => hasAxis(tag, name))) {
        violations.push({ kind: 'missing-tag-axis', name });
      }
    }
  }
  for (const name of new Set(policy.fields)) {
    if (name === 'type' && isTypeless(path)) continue;
    if (isBlank(metadata?.[name])) violations.push({ kind: 'missing-field', name });
  }
  return violations;
}

/** A violation as one line: its kind, and the name where it has one. */
export function describeViolation(violation: Violation): string {
  return 'name' in violation ? `${violation.kind}: ${violation.name}` : violation.kind;
}

const STRICTNESS = 'strictness:';
const REQUIRE_TAGS = 'require_tags:';
const REQUIRE_FIELDS = 'require_fields:';
const DIRECTIVES: readonly string[] = [STRICTNESS, REQUIRE_TAGS, REQUIRE_FIELDS];

/** Words of the protocol: a request that carries them means something else than metadata. */
const UNAVAILABLE: ReadonlySet<string> = new Set([
  'auth',
  'body-hash',
  'content-hash',
  'content-length',
  'current-version',
  'etag',
  'expected-version',
  'filter',
  'if-modified-since',
  'if-none-match',
  'length',
  'limit',
  'match',
  'modified',
  'path',
  'query',
  'retention',
  'scope',
  'status',
  'verb',
]);

function isStrictness(text: string | null): text is Strictness {
  return text === 'warn' || text === 'block' || text === 'ask';
}

/** Spaces and tabs only: other white space does not indent a directive. */
function indentOf(line: string): number {
  let i = 0;
  while (line[i] === ' ' || line[i] === '\t') i++;
  return i;
}

function names(list: string | undefined): string[] {
  return list === undefined ? [] : splitSpace(list.replaceAll(',', ' '));
}

function hasAxis(tag: string, axis: string): boolean {
  return tag.startsWith(`${axis}:`) && !isBlank(tag.slice(axis.length + 1));
}

function checkNames(
  list: readonly string[],
  problemOf: (name: string) => string | null,
): string | null {
  if (list.length > POLICY_NAMES_MAX) {
    return `${list.length} names, ${POLICY_NAMES_MAX} are allowed`;
  }
  const seen = new Set<string>();
  for (const name of list) {
    if (utf8Length(name) > POLICY_NAME_BYTES_MAX) {
      return `"${name.slice(0, 16)}…" is longer than ${POLICY_NAME_BYTES_MAX} bytes`;
    }
    const problem = problemOf(name);
    if (problem !== null) return problem;
    if (seen.has(name)) return `"${name}" stands twice`;
    seen.add(name);
  }
  return null;
}

function axisProblem(name: string): string | null {
  return name.includes(':') ? `"${name}" is no axis: it has a ":"` : null;
}

function fieldProblem(name: string): string | null {
  if (!/^[a-z0-9-]+$/.test(name)) return `"${name}" is no metadata key`;
  return isReservedKey(name) || UNAVAILABLE.has(name) ? `"${name}" is not a document's own` : null;
}

/** Whether the least metadata that satisfies the policy fits a document. */
function checkRoom({ axes, fields }: Policy): string | null {
  const least = new Map(fields.map((field) => [field, 'x']));
  if (axes.length > 0) least.set('tags', axes.map((axis) => `${axis}:x`).join(','));
  let bytes = 0;
  for (const [key, value] of least) bytes += pairBytes(key, value);
  return least.size > METADATA_KEYS_MAX || bytes > METADATA_BYTES_MAX
    ? `what it asks for needs ${least.size} keys and ${bytes} bytes, ` +
        `${METADATA_KEYS_MAX} and ${METADATA_BYTES_MAX} are allowed`
    : null;
}
