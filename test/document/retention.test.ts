/**
 * Goal: retention keeps a contiguous suffix. Method: the rule's rows, and a model that lists
 * versions.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pruneRange } from '../../bucketstore/document/retention.ts';

describe('`pruneRange()`', () => {
  it.each([
    ['keeps the newest N, the new one included', 1, 5, 3, 3, [1, 2]],
    ['keeps one version', 1, 5, 1, 5, [1, 4]],
    ['prunes nothing when the window is wider', 1, 3, 10, 1, null],
    ['prunes nothing when the window just fits', 1, 3, 3, 1, null],
    ['prunes nothing when the write does not say', 3, 6, null, 3, null],
    ['brings nothing back', 4, 6, 5, 4, null],
    ['cuts on from an earlier cut', 4, 7, 2, 6, [4, 5]],
    ['prunes nothing of a new document', 1, 1, 1, 1, null],
  ] as const)('%s', (_, first, version, retention, expected, pruned) => {
    expect(pruneRange({ first, version, retention })).toEqual({ first: expected, pruned });
  });

  it('agrees with a list of versions', () => {
    const number = fc.integer({ min: 1, max: 30 });
    fc.assert(
      fc.property(number, number, number, (first, more, retention) => {
        const version = first + more - 1;
        const all = Array.from({ length: more }, (_, i) => first + i);
        const kept = all.slice(-retention);
        const gone = all.slice(0, all.length - kept.length);
        const result = pruneRange({ first, version, retention });
        expect(result.first).toBe(kept[0]);
        expect(result.pruned).toEqual(gone.length === 0 ? null : [gone[0], gone.at(-1)]);
      }),
    );
  });
});
