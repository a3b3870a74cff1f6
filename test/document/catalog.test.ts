/**
 * Goal: every reader derives the same title. Method: the rule's rows, one heading or fence at a
 * time.
 */
import { describe, expect, it } from 'vitest';
import {
  catalogOf,
  catalogProblem,
  cutTitle,
  deriveTitle,
  TITLE_BYTES_MAX,
} from '../../bucketstore/document/catalog.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const titleOf = (body: string, path = '/notes/file.md'): string =>
  deriveTitle(null, bytes(body), path);

describe('`deriveTitle()`', () => {
  it('takes the title of the metadata first, trimmed', () => {
    expect(deriveTitle({ title: ' T \u3000' }, bytes('# H\n'), '/a.md')).toBe('T');
    expect(deriveTitle({ title: ' \u0085 ' }, bytes('# H\n'), '/a.md')).toBe('H');
    expect(deriveTitle({ owner: 'x' }, bytes('# H\n'), '/a.md')).toBe('H');
  });

  it.each([
    ['a heading', '# One\n', 'One'],
    ['the last line without newline', 'text\n# One', 'One'],
    ['the first of two', '# One\n# Two\n', 'One'],
    ['a heading below text', 'text\n\n## Two\n\n# One\n', 'One'],
    ['three spaces of indentation', '   # One\n', 'One'],
    ['no heading with four', '    # One\n', 'file.md'],
    ['no heading behind a tab', '\t# One\n', 'file.md'],
    ['no heading behind a space and a tab', ' \t# One\n', 'file.md'],
    ['no heading behind a wide space', '\u00a0# One\n', 'file.md'],
    ['no heading without a space', '#One\n', 'file.md'],
    ['no heading with a tab for the space', '#\tOne\n', 'file.md'],
    ['no second level', '## Two\n', 'file.md'],
    ['no empty heading, but the next', '# \n#  \t\n# One\n', 'One'],
    ['a sign at the end of the body', 'text\n#', 'file.md'],
    ['white space at both ends', '#  One \u2003\n', 'One'],
    ['CRLF', 'text\r\n# One\r\n', 'One'],
    ['lone CR', 'text\r# One\rtext', 'One'],
    ['beyond ASCII', '# Über 😀\n', 'Über 😀'],
    ['signs at the end, as written', '# C #\n', 'C #'],
    ['nothing in a body of nothing', '', 'file.md'],
  ])('finds %s', (_, body, title) => {
    expect(titleOf(body)).toBe(title);
  });

  it.each([
    ['backticks', '```\n# No\n```\n# One\n', 'One'],
    ['tildes', '~~~\n# No\n~~~\n# One\n', 'One'],
    ['an info string', '```sh\n# No\n```\n# One\n', 'One'],
    ['one kind closing the other', '```\n# No\n~~~\n# One\n', 'One'],
    ['indentation of any kind', '      ```\n# No\n\u3000\u0085\t```\n# One\n', 'One'],
    ['four signs', '````\n# No\n````\n# One\n', 'One'],
    ['a fence that stays open', '```\n# No\n', 'file.md'],
    ['a fence at the end of the body', '# One\n```', 'One'],
    ['two signs only', '``\n# One\n', 'One'],
    ['mixed signs', '``~\n# One\n', 'One'],
    ['text before the signs', 'x ```\n# One\n', 'One'],
    ['a byte order mark before the signs', '\ufeff```\n# One\n', 'One'],
  ])('knows fences: %s', (_, body, title) => {
    expect(titleOf(body)).toBe(title);
  });

  it('takes the last segment of the path at last, as it is', () => {
    expect(titleOf('text', '/a/ b.md')).toBe(' b.md');
    expect(titleOf('text', '/b')).toBe('b');
  });

  it('cuts a derived title at a code point within 1,024 bytes', () => {
    const exact = 'x'.repeat(TITLE_BYTES_MAX);
    expect(titleOf(`# ${exact}\n`)).toBe(exact);
    expect(titleOf(`# ${exact}y\n`)).toBe(exact);
    expect(titleOf(`#   ${'x'.repeat(1022)}😀y\n`)).toBe('x'.repeat(1022));
    expect(titleOf(`# ${'ä'.repeat(600)}\n`)).toBe('ä'.repeat(512));
    expect(titleOf(`# a${'ä'.repeat(600)}\n`)).toBe(`a${'ä'.repeat(511)}`);
    expect(titleOf('text', `/${'ä'.repeat(600)}`)).toBe('ä'.repeat(512));
    expect(titleOf(`# ${'x'.repeat(1_000_000)}`)).toBe(exact);
    expect(cutTitle('short')).toBe('short');
  });
});

describe('`catalogProblem()`', () => {
  it('takes what `catalogOf()` gives, normalised or not', () => {
    for (const metadata of [null, { title: ' T ', tags: 'go, storage', importance: ' 0.80 ' }]) {
      expect(catalogProblem(catalogOf(metadata, bytes('# H\n'), '/a.md'))).toBeNull();
    }
    expect(catalogProblem({ title: ' from a file name', metadata: null })).toBeNull();
  });

  it.each([
    ['an empty title', { title: '', metadata: null }],
    ['a title that is not well formed', { title: '\ud800', metadata: null }],
    ['a title over its limit', { title: 'x'.repeat(TITLE_BYTES_MAX + 1), metadata: null }],
    ['a title that is not trimmed', { title: ' T', metadata: { title: ' T' } }],
    ['a title other than the metadata has', { title: 'U', metadata: { title: 'T' } }],
    ['empty metadata', { title: 'T', metadata: {} }],
    ['a reserved key', { title: 'T', metadata: { version: '1' } }],
    ['a newline', { title: 'T', metadata: { owner: 'a\nb' } }],
  ])('refuses %s', (_, catalog) => {
    expect(catalogProblem(catalog)).toEqual(expect.any(String));
  });
});
