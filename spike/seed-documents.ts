/**
 * The documents of a seeded world: each is a function of its number, so none has to be remembered.
 * Their entries in a segment are of 850 bytes or so, and their paths lie in a tree of directories.
 */
import { normaliseMetadata } from '../bucketstore/document/metadata.ts';
import type { Metadata } from '../bucketstore/index.ts';
import { SeededRandom } from '../test/support/seeded-random.ts';

/** Documents of a directory, until there are as many directories as two bytes can name. */
const PER_DIRECTORY = 32;
const DIRECTORIES_MAX = 65_536;
const NUMBER_DIGITS = 8;

const WORDS = 20_000;
const TAGS = 500;
const AUTHORS = 300;
const CONSONANTS = 'bcdfghklmnprstvw';
const VOWELS = 'aeiou';
const TYPES = ['Document', 'Note', 'Decision', 'Runbook'] as const;
const TITLE_WORDS_MIN = 3;
const TITLE_WORDS_SPREAD = 5;
/** What brings an entry to its size. */
const DESCRIPTION_BYTES_MIN = 273;
const DESCRIPTION_BYTES_SPREAD = 136;
/** Text that descriptions and bodies are cut from. */
const PROSE_BYTES = 262_144;
const PROSE_LINE_WORDS = 12;

/** What the documents are a function of. */
export interface SeedParameters {
  readonly documents: number;
  readonly bodyBytes: number;
  readonly seed: number;
}

/** What is written of one document. */
export interface SeedDocument {
  readonly path: string;
  readonly metadata: Metadata | null;
  readonly body: Uint8Array;
}

/** The documents of a world, in the order of their paths. */
export class SeedDocuments {
  readonly count: number;
  readonly #bodyBytes: number;
  readonly #seed: number;
  readonly #directories: number;
  readonly #words: readonly string[];
  /** Words on one line. */
  readonly #text: string;
  /** The same words on many. */
  readonly #prose: Buffer;

  constructor({ documents, bodyBytes, seed }: SeedParameters) {
    this.count = documents;
    this.#bodyBytes = bodyBytes;
    this.#seed = seed;
    this.#directories = Math.min(Math.ceil(documents / PER_DIRECTORY), DIRECTORIES_MAX);
    const random = new SeededRandom(seed).derive('words');
    this.#words = Array.from({ length: WORDS }, () => wordOf(random));
    const { text, prose } = proseOf(this.#words, random);
    this.#text = text;
    this.#prose = Buffer.from(prose);
  }

  /** @param index 0 to `count` - 1; paths ascend with it */
  path(index: number): string {
    // Few directories are spread over all names that there are.
    const directory = Math.floor((index * this.#directories) / this.count);
    const name = Math.floor((directory * DIRECTORIES_MAX) / this.#directories);
    const digits = name.toString(16).padStart(4, '0');
    const number = String(index).padStart(NUMBER_DIGITS, '0');
    return `/spike/${digits.slice(0, 2)}/${digits.slice(2)}/doc-${number}.md`;
  }

  /** @param revision 0 is what is seeded; others have another body */
  document(index: number, revision = 0): SeedDocument {
    const draws = new Draws(this.#seed, index);
    const title = this.#title(draws);
    const metadata = normaliseMetadata({
      title,
      author: this.#words[2_000 + draws.below(AUTHORS)] ?? '',
      description: this.#description(draws),
      importance: `0.${10 + draws.below(90)}`,
      source: `https://wiki.example.org/pages/${index}`,
      tags: `${this.#tag(draws)},${this.#tag(draws)},${this.#tag(draws)}`,
      type: TYPES[draws.below(TYPES.length)] ?? '',
    });
    return { path: this.path(index), metadata, body: this.#body(title, index, revision) };
  }

  #title(draws: Draws): string {
    const words: string[] = [];
    const count = TITLE_WORDS_MIN + draws.below(TITLE_WORDS_SPREAD);
    while (words.length < count) words.push(frequent(this.#words, draws));
    return words.join(' ');
  }

  #tag(draws: Draws): string {
    return this.#words[1_000 + draws.below(TAGS)] ?? '';
  }

  #description(draws: Draws): string {
    const length = DESCRIPTION_BYTES_MIN + draws.below(DESCRIPTION_BYTES_SPREAD);
    const start = draws.below(this.#text.length - length);
    return this.#text.slice(start, start + length).trim();
  }

  #body(title: string, index: number, revision: number): Uint8Array {
    const body = Buffer.alloc(this.#bodyBytes);
    // What tells bodies apart comes first: the shortest has room for it.
    let at = body.write(`Page ${index}, revision ${revision}.\n\n# ${title}\n\n`, 'latin1');
    let from = new Draws(this.#seed ^ revision, index).below(this.#prose.length);
    while (at < body.length) {
      at += this.#prose.copy(body, at, from);
      from = 0;
    }
    return body;
  }
}

/** Numbers that follow from a seed and an index; cheaper to begin than a generator. */
class Draws {
  #state: number;

  constructor(seed: number, index: number) {
    this.#state = Math.imul(index ^ Math.imul(seed, 0x85eb_ca6b), 0x9e37_79b1) | 1;
    this.#next();
  }

  /** A whole number in [0, below). */
  below(below: number): number {
    return Math.floor((this.#next() / 2 ** 32) * below);
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
}

/** One of the words, the earlier the more often. */
function frequent(words: readonly string[], draws: Draws): string {
  return words[Math.floor(words.length * (draws.below(65_536) / 65_536) ** 3)] ?? '';
}

/** A word that can be said, of one to four syllables. */
function wordOf(random: SeededRandom): string {
  const syllable = (): string => {
    return `${CONSONANTS[random.integer(CONSONANTS.length)]}${VOWELS[random.integer(5)]}`;
  };
  return Array.from({ length: 1 + random.integer(4) }, syllable).join('n');
}

function proseOf(
  words: readonly string[],
  random: SeededRandom,
): { readonly text: string; readonly prose: string } {
  const chosen: string[] = [];
  for (let bytes = 0; bytes < PROSE_BYTES; bytes += (chosen.at(-1)?.length ?? 0) + 1) {
    chosen.push(random.pick(words));
  }
  const lines: string[] = [];
  for (let at = 0; at < chosen.length; at += PROSE_LINE_WORDS) {
    lines.push(chosen.slice(at, at + PROSE_LINE_WORDS).join(' '));
  }
  return { text: chosen.join(' '), prose: `${lines.join('\n')}\n` };
}
