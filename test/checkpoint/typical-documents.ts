/**
 * Documents as a large world has them, for figures: entries of 850 bytes or so. All that varies is
 * drawn from the hash of a document's number, which costs less than a generator.
 */
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { normaliseMetadata } from '../../bucketstore/document/metadata.ts';
import type { DocumentState } from '../../bucketstore/snapshot/state.ts';

const CONSONANTS = 'bcdfghklmnprstvw';
const VOWELS = 'aeiou';
const TYPES = ['Document', 'Note', 'Decision', 'Runbook'] as const;
/** Sixteen draws of 16 bits. */
const DRAWS = 16;

/** Words that can be said, of one to four syllables. */
function wordsOf(count: number, seed: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const draws = Buffer.from(sha256Hex(`${seed} ${i}`), 'hex');
    const syllables = Array.from({ length: 1 + ((draws[0] ?? 0) & 3) }, (_item, at) => {
      const [a = 0, b = 0] = draws.subarray(1 + 2 * at);
      return `${CONSONANTS[a & 15]}${VOWELS[b % 5]}`;
    });
    return syllables.join('n');
  });
}

/** @returns one of `words`, the earlier the more often */
function frequent(words: readonly string[], draw: number): string {
  return words[Math.floor(words.length * (draw / 0x1_0000) ** 3)] ?? '';
}

/** As many documents, in path order. */
export function typicalDocuments(seed: number, count: number): DocumentState[] {
  const words = wordsOf(20_000, seed);
  const tags = words.slice(1000, 1500);
  const authors = words.slice(2000, 2300);
  const directories = Array.from({ length: Math.ceil(count / 60) }, (_, i) => {
    return `/${words[i % 40]}/${authors[i % 300]}/${words[i % 20_000]}-${i}`;
  });
  const documents = Array.from({ length: count }, (_, i): DocumentState => {
    const bodyHash = sha256Hex(`body ${seed} ${i}`);
    const bytes = Buffer.from(bodyHash, 'hex');
    const draws = Array.from({ length: DRAWS }, (_item, at) => bytes.readUInt16BE(2 * at));
    const [a = 0, b = 0, c = 0, d = 0, ...rest] = draws;
    const texts = rest.map((draw) => frequent(words, draw));
    const title = texts.slice(0, 3 + (a % 5)).join(' ');
    const name = texts.slice(0, 3).join('-');
    const version = 1 + Math.floor((b / 0x1_0000) ** 4 * 200);
    return {
      path: `${directories[(a * 7 + b) % directories.length]}/${name}-${i}.md`,
      current: {
        version,
        storedHash: sha256Hex(bodyHash),
        bodyHash,
        modified: 1_600_000_000 + c * 3000 + d,
        at: { epoch: 1 },
      },
      first: Math.max(1, version - 20),
      archived: c % 20 === 0,
      catalog: {
        title,
        metadata: normaliseMetadata({
          type: TYPES[d & 3] ?? '',
          title,
          tags: [a, c, d].map((draw) => frequent(tags, draw)).join(','),
          importance: `0.${a % 100}`,
          author: authors[d % 300] ?? '',
          description: texts.join(' '),
          source: `https://wiki.example.org/${i}`,
        }),
      },
    };
  });
  // All of it is ASCII.
  return documents.sort((one, other) => (one.path < other.path ? -1 : 1));
}
