/**
 * Goal: where front matter ends is decided once and by bytes (scenarios B35, B38). Method: the
 * variants of fences and newlines, and prose between thematic breaks that must stay text.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Fenced,
  FRONT_MATTER_BYTES_MAX,
  findFrontMatter,
} from '../../bucketstore/document/fence.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const find = (text: string): Fenced => findFrontMatter(bytes(text));

/** Block and rest of a body, both as text; the kind when there is no block. */
function split(text: string): string | [block: string, rest: string] {
  const body = bytes(text);
  const fenced = findFrontMatter(body);
  if (fenced.kind !== 'block') return fenced.kind;
  const read = (from: number, to?: number): string =>
    Buffer.from(body.subarray(from, to)).toString();
  return [read(fenced.start, fenced.end), read(fenced.bodyStart)];
}

describe('`findFrontMatter()`', () => {
  it.each([
    ['LF', '---\ntitle: T\n---\n# H\n', 'title: T\n', '# H\n'],
    ['CRLF', '---\r\ntitle: T\r\n---\r\n# H\r\n', 'title: T\r\n', '# H\r\n'],
    ['lone CR', '---\rtitle: T\r---\r# H\r', 'title: T\r', '# H\r'],
    ['CRLF and LF mixed', '---\r\ntitle: T\n---\r# H', 'title: T\n', '# H'],
    ['a byte order mark', '\ufeff---\ntitle: T\n---\n# H\n', 'title: T\n', '# H\n'],
    ['a byte order mark and CRLF', '\ufeff---\r\ntitle: T\r\n---\r\n', 'title: T\r\n', ''],
    ['white space behind the fences', '---   \ntitle: T\n--- \t\nx', 'title: T\n', 'x'],
    ['a closing fence at the end of the body', '---\ntitle: T\n---', 'title: T\n', ''],
    ['front matter only', '---\ntitle: T\n---\n', 'title: T\n', ''],
    ['an empty block', '---\n---\n', '', ''],
    ['a blank block', '---\n\n \t\n---\nx', '\n \t\n', 'x'],
    ['dots that close', '---\ntitle: T\n...\nx\n---\n', 'title: T\n', 'x\n---\n'],
    ['blank lines and comments first', '---\n\n# c\ntitle: T\n---\n', '\n# c\ntitle: T\n', ''],
    ['a key without value', '---\ntitle:\n---\n', 'title:\n', ''],
    ['a quoted key', '---\n"a: b": c\n---\n', '"a: b": c\n', ''],
    ['a key beyond ASCII', '---\nüber: c\n---\n', 'über: c\n', ''],
    ['a broken block', '---\ntags: [one, two\n---\n# X\n', 'tags: [one, two\n', '# X\n'],
    ['dashes inside', '---\na: x\n ---\n----\n--\n---\nx', 'a: x\n ---\n----\n--\n', 'x'],
  ])('finds the block: %s', (_, text, block, rest) => {
    expect(split(text)).toEqual([block, rest]);
  });

  it.each([
    ['none', ''],
    ['none', '# A\n\n---\nname: x\n---\n\nzebras\n'],
    ['none', '---'],
    ['none', '----\na: b\n---\n'],
    ['none', '--- a\na: b\n---\n'],
    ['none', ' ---\na: b\n---\n'],
    ['none', '\n---\na: b\n---\n'],
    ['none', '...\na: b\n---\n'],
    ['none', '\ufeff\ufeff---\na: b\n---\n'],
    ['unclosed', '---\n'],
    ['unclosed', '---\n\nExample text about zebras.\n'],
    ['unclosed', '---\ntitle: T\n--\n\nzebras\n'],
    ['unclosed', '---\ntitle: T\n ---\n'],
    ['unclosed', '---\ntitle: T\n....\n'],
    ['text', '---\n\nExample text about zebras.\n\n---\n'],
    ['text', '---\n# Heading\n---\n'],
    ['text', '---\n- item: x\n---\n'],
    ['text', '---\n> quote: x\n---\n'],
    ['text', '---\n[link]: https://example.org\n---\n'],
    ['text', '---\nhttps://example.org\n---\n'],
    ['text', '---\n: x\n---\n'],
  ])('finds no block (%s) in %j', (kind, text) => {
    expect(find(text)).toMatchObject({ kind, bodyStart: 0 });
  });

  it('says which line makes it text, and whether an open block had keys', () => {
    expect(find('---\n\n# c\nprose\n---\n')).toMatchObject({ kind: 'text', line: 4 });
    expect(find('---\n\n# c\n# d\n---\n')).toMatchObject({ kind: 'text', line: 3 });
    expect(find('---\na: b\n')).toMatchObject({ kind: 'unclosed', keyed: true });
    expect(find('---\nprose\n')).toMatchObject({ kind: 'unclosed', keyed: false });
  });

  it('looks for the closing fence in the first 64 KiB only', () => {
    const head = '---\na: b\n';
    const fill = (length: number): string =>
      `${head}${'x'.repeat(length - head.length - 1)}\n---\n`;
    expect(find(fill(FRONT_MATTER_BYTES_MAX - 1))).toMatchObject({ kind: 'block' });
    const beyond = { kind: 'unclosed', keyed: true, long: true };
    expect(find(fill(FRONT_MATTER_BYTES_MAX))).toMatchObject(beyond);
    expect(find(`---\n${'a: b\n'.repeat(400_000)}`)).toMatchObject(beyond);
    const open = fill(FRONT_MATTER_BYTES_MAX).replace(/\n---\n$/, '');
    expect(find(open)).toMatchObject({ kind: 'unclosed', keyed: true, long: false });
  });

  it('decides for any bytes, within them', () => {
    const piece = fc.constantFrom('---', '...', '\n', '\r', ' ', 'a: b', '#', '\ufeff', 'x', '- ');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const body = bytes(pieces.join(''));
        const fenced = findFrontMatter(body);
        expect(findFrontMatter(Uint8Array.from(body))).toEqual(fenced);
        if (fenced.kind !== 'block') return;
        expect(fenced.start).toBeLessThanOrEqual(fenced.end);
        expect(fenced.end).toBeLessThan(fenced.bodyStart);
        expect(fenced.bodyStart).toBeLessThanOrEqual(body.length);
      }),
      { numRuns: 1000 },
    );
  });
});
