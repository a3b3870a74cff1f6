/** Draws the operations of the differential: few paths and bodies, so that they meet each other. */
import type { ModelExpected, ModelMetadata, ModelMutation, WorldModel } from './model.ts';

export type Read =
  | { readonly read: 'get' | 'versions' | 'isDir'; readonly path: string }
  | { readonly read: 'version'; readonly path: string; readonly version: number }
  | {
      readonly read: 'list';
      readonly path: string;
      readonly after: string;
      readonly limit: number;
      readonly includeArchived: boolean;
    }
  | { readonly read: 'hash'; readonly body: string };

export type Operation = Read | { readonly mutations: readonly ModelMutation[] };

const PATHS: readonly string[] = [
  '/a.md',
  '/a.md/below.md',
  '/n/x.md',
  '/n/y.md',
  '//n/./y.md',
  '/n/.hidden.md',
  '/n/versions/z.md',
  '/n/deep/er.md',
  '/n/deep',
  '/.h/d.md',
  '/index.md',
  '/notes/\u00dcbersicht.md',
  '/notes/U\u0308bersicht.md',
  '/guides/A.md',
  '/guides/\uff21.md',
  '/guides/\u{1d400}.md',
  '/n/../x.md',
];
const DIRECTORIES: readonly string[] = ['/', '/n', '/n/deep', '/guides/', '/.h', '/none', '/a.md'];
const AFTERS: readonly string[] = ['', '', 'A.md', 'a', 'deep', '\uff21.md', 'zz'];
const BODIES: readonly string[] = [
  '',
  'one\n',
  'two',
  '# Title\n\ntext\n',
  '---\ntitle: of the author\n---\n# Own block\n',
  '\ufeffmarked\r\n',
  'constructor __proto__ toString',
  `# Large\n${'0123456789abcdef\n'.repeat(1200)}`,
];
const METADATA: readonly (ModelMetadata | null)[] = [
  null,
  null,
  {},
  { tags: 'a, b' },
  { tags: 'a,b' },
  { title: 'T', type: 'Note' },
  { retention: '2' },
  { retention: '1', agent: 'bot' },
  { constructor: 'x', importance: '0.9' },
];

/** Mulberry32: a small generator; equal seeds draw equal operations on every machine. */
function numbersOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export class Operator {
  readonly #number: () => number;
  readonly #model: WorldModel;

  constructor(seed: number, model: WorldModel) {
    this.#number = numbersOf(seed);
    this.#model = model;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.#number() * items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  next(): Operation {
    const dice = this.#number();
    if (dice < 0.45) return { mutations: [this.#mutation()] };
    if (dice > 0.6) return this.#read();
    const count = 2 + Math.floor(this.#number() * 4);
    return { mutations: Array.from({ length: count }, () => this.#mutation()) };
  }

  #mutation(): ModelMutation {
    const path = this.pick(PATHS);
    const dice = this.#number();
    if (dice < 0.15) return { kind: 'archive', path, archived: this.#number() < 0.5 };
    const metadata = this.pick(METADATA);
    if (dice < 0.35) {
      const expected = Math.max(1, this.#versionOf(path));
      return { kind: 'append', path, expected, content: this.pick(BODIES.slice(0, 4)), metadata };
    }
    return {
      kind: 'publish',
      path,
      expected: this.#expected(path),
      body: this.pick(BODIES),
      metadata,
    };
  }

  #expected(path: string): ModelExpected {
    const dice = this.#number();
    if (dice < 0.3) return 'any';
    if (dice < 0.5) return 'absent';
    const etag = this.#etagOf(path);
    if (dice < 0.65 && etag !== null) return { etag };
    return this.#versionOf(path);
  }

  /** The current version, sometimes one that is not. */
  #versionOf(path: string): number {
    const current = this.#current(path)?.version ?? 0;
    return this.#number() < 0.8 ? current : Math.max(0, current + this.pick([-1, 1]));
  }

  #etagOf(path: string): string | null {
    return this.#number() < 0.8 ? (this.#current(path)?.etag ?? null) : '0'.repeat(64);
  }

  #current(path: string) {
    return this.#model.paths.includes(path) ? this.#model.current(path) : null;
  }

  #read(): Read {
    const path = this.pick(PATHS);
    const dice = this.#number();
    if (dice < 0.25) return { read: this.pick(['get', 'versions', 'isDir'] as const), path };
    if (dice < 0.45) return { read: 'version', path, version: Math.floor(this.#number() * 6) };
    if (dice < 0.65) return { read: 'hash', body: this.pick(BODIES) };
    return {
      read: 'list',
      path: this.pick(DIRECTORIES),
      after: this.pick(AFTERS),
      limit: this.pick([0, 1, 2, 1000]),
      includeArchived: this.#number() < 0.5,
    };
  }
}
