/** What a mutation does to a document, by the oracle's own reading: whether anything, and what. */
import type { CalledMutation } from '../history.ts';
import { appended } from './document-model.ts';
import type { GhostEntry, GhostState, GhostVersion } from './ghost-document.ts';
import type { GhostWorld } from './ghost-state.ts';

type Metadata = { readonly [key: string]: string } | null;

/** Whether a document is as it was expected; undefined: it is absent. */
export function meets(
  expected: CalledMutation['expected'],
  state: GhostState | undefined,
): boolean {
  if (expected === 'any') return true;
  if (expected === 'absent') return state === undefined;
  if (typeof expected === 'number') return (state?.version ?? 0) === expected;
  return state?.etag === expected.etag;
}

/**
 * Whether a mutation leaves its document as it is and may say so: what has nothing to commit is not
 * asked for policy or precondition, but what is refused before is no such thing.
 */
export function changesNothing(
  world: GhostWorld,
  mutation: CalledMutation,
  state: GhostState | undefined,
): boolean {
  if (state === undefined || !meets(mutation.expected, state)) return false;
  if (mutation.kind === 'archive') return state.archived === mutation.archived;
  if (state.archived) return false;
  const version = world.documents.get(mutation.path)?.versions.get(state.version);
  return version !== undefined && differs(mutation, version, version) === null;
}

/** What an entry says that its mutation does not, or null. */
export function differenceOf(
  world: GhostWorld,
  mutation: CalledMutation,
  entry: GhostEntry,
): string | null {
  if (mutation.kind === 'archive') {
    const right = entry.kind === 'archive' && entry.archived === mutation.archived;
    return right ? null : 'is another change';
  }
  if (entry.verb !== mutation.kind) return 'is another change';
  const versions = world.documents.get(entry.path)?.versions;
  const version = versions?.get(entry.version);
  // Its bytes are missing, which is told elsewhere.
  if (version === undefined) return null;
  return differs(mutation, versions?.get(entry.version - 1), version);
}

/** How a version is another than the one that a write makes of the version before, or null. */
function differs(
  { kind, path, body, metadata }: CalledMutation,
  before: GhostVersion | undefined,
  version: GhostVersion,
): string | null {
  const appends = kind === 'append';
  const text = appends ? appended(before === undefined ? '' : textOf(before), body) : body;
  if (textOf(version) !== text) return 'has another body';
  const right = appends ? merged(before?.metadata ?? null, metadata, path) : metadata;
  return same(normal(right), normal(version.metadata)) ? null : 'has other metadata';
}

function textOf({ body }: GhostVersion): string {
  return Buffer.from(body).toString();
}

/** An append keeps the old metadata but `retention`, and has a type. */
function merged(old: Metadata, said: Metadata, path: string): Metadata {
  const { retention: _, ...kept } = old ?? {};
  const both: { [key: string]: string } = { ...kept, ...said };
  const typeless = path.endsWith('/index.md') || path.endsWith('/log.md');
  if ((both['type'] ?? '').trim() === '' && !typeless) both['type'] = 'Document';
  return both;
}

/** Sorted pairs, with tags as they read back. */
function normal(metadata: Metadata): readonly string[] {
  return Object.entries(metadata ?? {})
    .map(([key, value]) => {
      const tags = () => value.split(',').map((tag) => tag.trim());
      return `${key}\0${
        key === 'tags'
          ? tags()
              .filter((tag) => tag !== '')
              .join(',')
          : value
      }`;
    })
    .sort();
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
