/**
 * Damage for the decoders of documents: stored versions and front matter with bytes changed, cut,
 * repeated and replaced by texts that mean something to a parser. All of it follows from a seed.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { readFrontMatter } from '../../bucketstore/document/front-matter.ts';
import {
  inspectStored,
  StoredVersionError,
  storeVersion,
} from '../../bucketstore/document/stored.ts';

const TOKENS = ['---\n', '\n---\n', 'version: 2\n', 'meta.a: b\n', 'tags: [a, b]\n', ': ', '\n'];
const ODD = ['\r', '\ufeff', '\u0000', '"', '[', '{', '&a', '*a', '|', '>', '- ', '? ', '!!x', '#'];

const metadata = fc
  .dictionary(fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/), fc.stringMatching(/^[ -~]{0,12}$/), {
    maxKeys: 5,
  })
  .map((pairs) => {
    for (const key of ['version', 'archived', 'previous-hash', 'retention']) delete pairs[key];
    return Object.keys(pairs).length === 0 ? null : pairs;
  });

interface Damage {
  readonly at: number;
  readonly cut: number;
  readonly put: string;
}

const damage: fc.Arbitrary<Damage> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  cut: fc.nat({ max: 6 }),
  put: fc.oneof(fc.constantFrom(...TOKENS, ...ODD), fc.string({ unit: 'binary', maxLength: 4 })),
});

function damaged(bytes: Uint8Array, damages: readonly Damage[]): Buffer {
  let result = Buffer.from(bytes);
  for (const { at, cut, put } of damages) {
    const start = Math.floor(at * result.length);
    const rest = result.subarray(start + cut);
    result = Buffer.concat([result.subarray(0, start), Buffer.from(put), rest]);
  }
  return result;
}

/**
 * A stored version that is accepted is the one spelling of what it says, or an older one of tags.
 */
export function fuzzStored(seed: number, numRuns: number): void {
  const cases = fc.property(
    fc.integer({ min: 1, max: 3 }),
    metadata,
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.array(damage, { maxLength: 3 }),
    (version, pairs, text, damages) => {
      const previousHash = version === 1 ? null : 'ab'.repeat(32);
      const body = Buffer.from(text);
      const stored = damaged(
        storeVersion({ version, previousHash, metadata: pairs, body }),
        damages,
      );
      try {
        const found = inspectStored(stored);
        const again = storeVersion({ ...found, body: stored.subarray(found.bodyOffset) });
        expect(inspectStored(again)).toMatchObject({ version: found.version });
        expect(inspectStored(again).metadata).toEqual(found.metadata);
      } catch (error) {
        if (!(error instanceof StoredVersionError)) throw error;
      }
    },
  );
  fc.assert(cases, { seed, numRuns });
}

/** Front matter never throws, says the same twice, and never ends beyond the body. */
export function fuzzFrontMatter(seed: number, numRuns: number): void {
  const line = fc.oneof(fc.constantFrom(...TOKENS, ...ODD), fc.string({ maxLength: 20 }));
  const cases = fc.property(
    fc.array(line, { maxLength: 12 }),
    fc.array(damage, { maxLength: 3 }),
    (lines, damages) => {
      const body = damaged(Buffer.from(`---\n${lines.join('\n')}\n---\n# Title\n`), damages);
      const found = readFrontMatter(body);
      expect(readFrontMatter(body)).toEqual(found);
      expect(found.bodyStart).toBeGreaterThanOrEqual(0);
      expect(found.bodyStart).toBeLessThanOrEqual(body.length);
    },
  );
  fc.assert(cases, { seed, numRuns });
}
