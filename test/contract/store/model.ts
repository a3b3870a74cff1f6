/**
 * What a world is, as plainly as it can be said: a map of documents, each a list of versions.
 * Shares no code with the store that is compared with it, its stored bytes and hashes included.
 */
import { byBytes, etagOf, linesOf, splitTags } from './model-bytes.ts';

export type ModelMetadata = Readonly<Record<string, string>>;

export type ModelExpected = number | { readonly etag: string } | 'absent' | 'any';

export type ModelMutation =
  | {
      readonly kind: 'publish';
      readonly path: string;
      readonly expected: ModelExpected;
      readonly body: string;
      readonly metadata: ModelMetadata | null;
    }
  | {
      readonly kind: 'append';
      readonly path: string;
      readonly expected: number;
      readonly content: string;
      readonly metadata: ModelMetadata | null;
    }
  | { readonly kind: 'archive'; readonly path: string; readonly archived: boolean };

export interface ModelVersion {
  readonly version: number;
  readonly body: string;
  /** Sorted `key=value` lines. */
  readonly metadata: readonly string[];
  readonly etag: string;
}

/** A refusal: its code, and for a conflict the current version. */
export class ModelRefusal extends Error {
  readonly code: string;
  readonly currentVersion: number | undefined;

  constructor(code: string, currentVersion?: number) {
    super(code);
    this.code = code;
    this.currentVersion = currentVersion;
  }
}

export interface ModelResult {
  readonly committed: boolean;
  readonly sequence: number | null;
  readonly version: number;
  readonly etag: string;
  readonly archived: boolean;
  /** Absent for an archive. */
  readonly pruned?: readonly [number, number] | null;
}

interface Kept {
  readonly version: number;
  readonly body: string;
  readonly metadata: Map<string, string>;
  readonly etag: string;
}

interface ModelDocument {
  readonly archived: boolean;
  /** Retained versions, oldest first. */
  readonly versions: readonly Kept[];
}

export class WorldModel {
  #documents = new Map<string, ModelDocument>();
  #sequence = 1;

  /** Paths of all documents in byte order, archived ones included. */
  get paths(): readonly string[] {
    return [...this.#documents.keys()].sort(byBytes);
  }

  get sequence(): number {
    return this.#sequence;
  }

  /** Commits all or none. @throws ModelRefusal the first refusal */
  commit(mutations: readonly ModelMutation[]): readonly ModelResult[] {
    for (const mutation of mutations) {
      canonicalOr('INVALID_PATH', mutation.path, true);
      if (mutation.kind === 'append' && mutation.content === '') {
        throw new ModelRefusal('INVALID_CONTENT');
      }
    }
    const before = new Map(this.#documents);
    const sequence = this.#sequence;
    try {
      return mutations.map((mutation) => this.#apply(mutation));
    } catch (error) {
      this.#documents = before;
      this.#sequence = sequence;
      throw error;
    }
  }

  current(path: string): ModelVersion & { readonly archived: boolean } {
    const { archived, versions } = this.#document(path);
    return { ...shown(last(versions)), archived };
  }

  version(path: string, version: number): ModelVersion {
    const found = this.#document(path).versions.find((kept) => kept.version === version);
    if (found === undefined) throw new ModelRefusal('NOT_FOUND');
    return shown(found);
  }

  /** Version numbers, newest first. */
  versions(path: string): readonly number[] {
    return this.#document(path)
      .versions.map(({ version }) => version)
      .reverse();
  }

  isDirectory(path: string): boolean {
    const canonical = canonicalOr('NOT_FOUND', path, false);
    if (this.#documents.has(canonical)) return false;
    if (canonical === '/' || this.#under(canonical).length > 0) return true;
    throw new ModelRefusal('NOT_FOUND');
  }

  /** Names in a directory; directories end in a slash. */
  list(path: string, after: string, limit: number, withArchived: boolean): readonly string[] {
    if (!this.isDirectory(path)) throw new ModelRefusal('NOT_FOUND');
    const directory = canonicalOr('NOT_FOUND', path, false);
    const names = new Set<string>();
    for (const below of this.#under(directory)) {
      const segments = below.slice(directory === '/' ? 1 : directory.length + 1).split('/');
      if (segments.some(isHidden)) continue;
      if (!withArchived && this.#documents.get(below)?.archived) continue;
      names.add(segments.length === 1 ? (segments[0] ?? '') : `${segments[0]}/`);
    }
    return [...names]
      .sort((a, b) => byBytes(bare(a), bare(b)))
      .filter((name) => after === '' || byBytes(bare(name), after) > 0)
      .slice(0, limit === 0 ? undefined : limit);
  }

  /** The smallest live path with a body. */
  pathOfBody(body: string): string {
    const found = this.paths.find((path) => {
      const document = this.#documents.get(path);
      return document && !document.archived && last(document.versions).body === body;
    });
    if (found === undefined) throw new ModelRefusal('NOT_FOUND');
    return found;
  }

  #apply(mutation: ModelMutation): ModelResult {
    const path = canonicalOr('INVALID_PATH', mutation.path, true);
    if (mutation.kind === 'archive') return this.#archive(path, mutation.archived);
    const document = this.#documents.get(path);
    const current = document && last(document.versions);
    if (current === undefined && mutation.kind === 'append') throw new ModelRefusal('NOT_FOUND');
    if (!meets(mutation.expected, current))
      throw new ModelRefusal('CONFLICT', current?.version ?? 0);
    if (document === undefined) this.#checkTopology(path);
    if (document?.archived) throw new ModelRefusal('ARCHIVED');
    const { body, metadata } = prepare(mutation, path, current);
    if (current?.body === body && same(current.metadata, metadata)) {
      return { ...answer(current, false), committed: false, sequence: null, pruned: null };
    }
    const version = (current?.version ?? 0) + 1;
    const kept = { version, body, metadata, etag: etagOf(version, current?.etag, metadata, body) };
    const all = [...(document?.versions ?? []), kept];
    const keep = Number(mutation.metadata?.['retention'] ?? all.length);
    const versions = all.slice(Math.max(0, all.length - keep));
    const dropped = all.slice(0, all.length - versions.length);
    this.#documents.set(path, { archived: false, versions });
    const [oldest] = dropped;
    const pruned = oldest ? ([oldest.version, last(dropped).version] as const) : null;
    return { ...answer(kept, false), committed: true, sequence: ++this.#sequence, pruned };
  }

  #archive(path: string, archived: boolean): ModelResult {
    const document = this.#document(path);
    const current = last(document.versions);
    if (document.archived === archived) {
      return { ...answer(current, archived), committed: false, sequence: null };
    }
    this.#documents.set(path, { ...document, archived });
    return { ...answer(current, archived), committed: true, sequence: ++this.#sequence };
  }

  #checkTopology(path: string): void {
    const above = this.paths.some((other) => path.startsWith(`${other}/`));
    if (above || this.#under(path).length > 0) throw new ModelRefusal('PATH_COLLISION');
  }

  #document(path: string): ModelDocument {
    const document = this.#documents.get(canonicalOr('NOT_FOUND', path, true));
    if (document === undefined) throw new ModelRefusal('NOT_FOUND');
    return document;
  }

  #under(directory: string): readonly string[] {
    const prefix = directory === '/' ? '/' : `${directory}/`;
    return this.paths.filter((path) => path.startsWith(prefix));
  }
}

function canonicalOr(code: string, path: string, ofDocument: boolean): string {
  const segments = path.split('/');
  if (segments.includes('..')) throw new ModelRefusal(code);
  const canonical = `/${segments.filter((segment) => segment !== '' && segment !== '.').join('/')}`;
  if (ofDocument && canonical === '/') throw new ModelRefusal(code);
  return canonical;
}

function prepare(
  mutation: Exclude<ModelMutation, { readonly kind: 'archive' }>,
  path: string,
  current: Kept | undefined,
): { readonly body: string; readonly metadata: Map<string, string> } {
  const given = new Map(Object.entries(mutation.metadata ?? {}));
  if (mutation.kind === 'publish') return { body: mutation.body, metadata: normal(given) };
  const old = current?.body ?? '';
  const body = `${old}${old === '' || old.endsWith('\n') ? '' : '\n'}${mutation.content}`;
  const inherited = new Map(current?.metadata);
  inherited.delete('retention');
  const metadata = new Map([...inherited, ...given]);
  const typed = (metadata.get('type') ?? '').trim() !== '';
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (!typed && name !== 'index.md' && name !== 'log.md') metadata.set('type', 'Document');
  return { body, metadata: normal(metadata) };
}

function normal(metadata: ReadonlyMap<string, string>): Map<string, string> {
  const result = new Map(metadata);
  const tags = metadata.get('tags');
  if (tags !== undefined) result.set('tags', splitTags(tags).join(','));
  return result;
}

function meets(expected: ModelExpected, current: Kept | undefined): boolean {
  if (expected === 'any') return true;
  if (expected === 'absent' || expected === 0) return current === undefined;
  if (typeof expected === 'number') return current?.version === expected;
  return current?.etag === expected.etag;
}

function answer({ version, etag }: Kept, archived: boolean) {
  return { version, etag, archived };
}

function shown({ version, body, metadata, etag }: Kept): ModelVersion {
  return { version, body, metadata: linesOf(metadata), etag };
}

function same(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return linesOf(a).join('\n') === linesOf(b).join('\n');
}

function last<T>(items: readonly T[]): T {
  const item = items.at(-1);
  if (item === undefined) throw new RangeError('a document without versions');
  return item;
}

function isHidden(segment: string): boolean {
  return segment.startsWith('.') || segment === 'versions';
}

function bare(name: string): string {
  return name.endsWith('/') ? name.slice(0, -1) : name;
}
