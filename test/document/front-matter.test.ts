/**
 * Goal: front matter becomes metadata as its author wrote it, or is refused by name, the same every
 * time (scenarios B35–B38, B46). Method: the scenarios' bodies, each rule of the mapping, and
 * hostile blocks.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FRONT_MATTER_BYTES_MAX } from '../../bucketstore/document/fence.ts';
import { type FrontMatter, readFrontMatter } from '../../bucketstore/document/front-matter.ts';
import { checkMetadata } from '../../bucketstore/document/metadata.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (text: string): FrontMatter => readFrontMatter(bytes(text));
const block = (...lines: string[]): FrontMatter => read(`---\n${lines.join('\n')}\n---\nbody\n`);
const plain = (found: FrontMatter): Record<string, string> => ({ ...found.metadata });

describe('`readFrontMatter()`', () => {
  it.each([
    ['as it is', '---\ntitle: Intro\ntags: [one, two]\n---\n# Hello\n'],
    ['CRLF', '---\r\ntitle: Intro\r\ntags: [one, two]\r\n---\r\n# Hello\r\n'],
    ['byte order mark', '\ufeff---\r\ntitle: Intro\r\ntags: [one, two]\r\n---\r\n# Hello\r\n'],
    ['lone CR', '---\rtitle: Intro\rtags: [one, two]\r---\r# Hello\r'],
    ['trailing spaces', '---   \ntitle: Intro  \ntags: [one, two] \n---  \n# Hello\n'],
    ['closing fence as the last bytes', '---\ntitle: Intro\ntags: [one, two]\n---'],
    ['front matter only', '---\ntitle: Intro\ntags: [one, two]\n---\n'],
    ['a list in lines', '---\ntitle: Intro\ntags:\n  - one\n  - two\n---\n'],
    ['a list in lines, not indented', '---\r\ntitle: Intro\r\ntags:\r\n- one\r\n- two\r\n---\r\n'],
    ['a list over lines', '---\ntitle: Intro\ntags: [\n  one, # first\n  two,\n]\n---\n'],
    ['commas', '---\ntitle: Intro\ntags: one, two\n---\n'],
    ['quotes', '---\n"title": \'Intro\'\ntags: ["one", \'two\']\n---\n'],
    ['comments', '---\n# c\ntitle: Intro # c\ntags: [one, two]\n---\n'],
    ['upper case keys', '---\nTitle: Intro\nTAGS: [one, two]\n---\n'],
  ])('finds title and tags: %s', (_, text) => {
    const found = read(text);
    expect(plain(found)).toEqual({ title: 'Intro', tags: 'one,two' });
    expect(found.problems).toEqual([]);
    expect(found.bodyStart).toBeGreaterThan(0);
    expect(Buffer.from(bytes(text).subarray(found.bodyStart)).toString().trim()).toMatch(
      /^(# Hello)?$/,
    );
  });

  it.each(['', '# A\n', '---\n---\n', '---\n\n---\nx', '---', '---\n\nText about zebras.\n'])(
    'finds nothing, and nothing wrong, in %j',
    (text) => {
      expect(read(text)).toMatchObject({ metadata: null, problems: [] });
    },
  );

  it('keeps values as they were written', () => {
    const lines = [
      'start: 11:30',
      'date: 2024-11-05',
      'country: no',
      'build: 1e3',
      'code: 007',
      'ver: 1.10',
      'big: 9007199254740993',
      'octal: 0o17',
      'nothing: null',
      'tilde: ~',
      'flag: True',
      'quoted: "x: \\u00e4"',
      "single: 'it''s'",
      'tagged: !!int 7',
      'spaced: a  b',
    ];
    const found = block(...lines);
    expect(found.problems).toEqual([]);
    expect(plain(found)).toEqual({
      start: '11:30',
      date: '2024-11-05',
      country: 'no',
      build: '1e3',
      code: '007',
      ver: '1.10',
      big: '9007199254740993',
      octal: '0o17',
      nothing: 'null',
      tilde: '~',
      flag: 'True',
      quoted: 'x: ä',
      single: "it's",
      tagged: '7',
      spaced: 'a  b',
    });
  });

  it('makes one line of several, and one text of a list', () => {
    const found = block(
      'description: >-',
      '  folded',
      '  text',
      'resource: |',
      '  kept',
      '',
      '  lines',
      'plain: over',
      '  lines',
      'authors: [Ann, Bob]',
      'escaped: "a\\r\\nb"',
      'empty: []',
      'novalue:',
      'blank: ""',
    );
    expect(found.problems).toEqual([]);
    expect(plain(found)).toEqual({
      description: 'folded text',
      resource: 'kept lines',
      plain: 'over lines',
      authors: 'Ann, Bob',
      escaped: 'a b',
    });
  });

  it('keeps the commas inside the items of a list apart from those between them', () => {
    const found = block(
      'authors: ["Doe, Jane", Bob, "Roe, ""Jo"""]'.replaceAll('""', '\\"'),
      'places:',
      "  - 'Paris, France'",
      '  - Rome',
      'one: ["a, b"]',
      'plain: [a, b]',
      'scalar: "a, b"',
    );
    expect(found.problems).toEqual([]);
    expect(plain(found)).toEqual({
      authors: '"Doe, Jane", Bob, "Roe, \\"Jo\\""',
      places: '"Paris, France", Rome',
      one: '"a, b"',
      plain: 'a, b',
      scalar: 'a, b',
    });
  });

  it('takes no tag that holds a comma, which would be two, and says so', () => {
    const found = block('title: T', 'tags: ["one, two", three]');
    expect(plain(found)).toEqual({ title: 'T' });
    expect(found.problems).toEqual([
      { line: 3, key: 'tags', reason: 'a tag holds no comma, and "one, two" does' },
    ]);
    expect(plain(block('tags: "one, two"'))).toEqual({ tags: 'one,two' });
  });

  it('lets the first of repeated keys count', () => {
    const found = block('title: A', 'title: B', 'Title: C');
    expect(plain(found)).toEqual({ title: 'A' });
    expect(found.problems.map(({ line, key }) => [line, key])).toEqual([
      [3, 'title'],
      [4, 'Title'],
    ]);
  });

  it('leaves out what does not fit, by line and key, and keeps the rest', () => {
    const found = block(
      'title: T',
      'version: 1.10',
      'last_updated: today',
      'größe: 1',
      'retention: forever',
      'nested:',
      '  a: b',
      'deep: [[a]]',
      'source: &x here',
      'copy: *x',
      '? [a, b]',
      ': c',
      'owner: me',
    );
    expect(plain(found)).toEqual({ title: 'T', source: 'here', owner: 'me' });
    expect(found.problems.map(({ line, key }) => [line, key])).toEqual([
      [3, 'version'],
      [4, 'last_updated'],
      [5, 'größe'],
      [6, 'retention'],
      [7, 'nested'],
      [9, 'deep'],
      [11, 'copy'],
      [12, undefined],
    ]);
  });

  it('stops taking keys at the limits, and never gives invalid metadata', () => {
    const keys = block(...Array.from({ length: 52 }, (_, i) => `k${i}: v`));
    expect(Object.keys(plain(keys))).toHaveLength(50);
    expect(keys.problems.map(({ key }) => key)).toEqual(['k50', 'k51']);
    const long = block(`a: ${'x'.repeat(1000)}`, `b: ${'y'.repeat(30)}`, `c: ${'z'.repeat(10)}`);
    expect(Object.keys(plain(long))).toEqual(['a', 'c']);
    expect(long.problems.map(({ key }) => key)).toEqual(['b']);
    expect(block(`a: ${'x'.repeat(2000)}`)).toMatchObject({ metadata: null });
    expect(checkMetadata(long.metadata)).toBeNull();
  });

  it('puts nothing on other objects', () => {
    const found = block('__proto__: {admin: true}', 'constructor: x');
    expect(plain(found)).toEqual({ constructor: 'x' });
    expect(found.problems).toMatchObject([{ line: 2, key: '__proto__' }]);
    expect(Object.getPrototypeOf(found.metadata)).toBeNull();
    expect('admin' in {}).toBe(false);
  });
});

describe('broken front matter', () => {
  it.each([
    ['a list that stays open', ['tags: [one, two'], 2],
    ['a text that stays open', ['title: T', 'owner: "x'], 3],
    ['a colon in a plain text', ['owner: x', 'title: a: b'], 3],
    ['a line that is no key', ['title: T', 'prose', 'owner: x'], 3],
    ['a tab for indentation', ['tags:', '\t- x'], 3],
    ['a reserved sign', ['title: @x'], 2],
    ['a second document', ['title: T', '--- x'], 3],
  ])('gives no metadata and a line: %s', (_, lines, line) => {
    const found = block(...lines);
    expect(found.metadata).toBeNull();
    expect(found.bodyStart).toBeGreaterThan(0);
    expect(found.problems).toMatchObject([{ line, reason: expect.any(String) }]);
  });

  it('is the same every time', () => {
    const text = '---\ntags: [one, two\n---\n# X\n';
    expect([read(text), read(text)]).toEqual([read(text), read(text)]);
  });

  it('names an open fence when keys follow it, and prose between two', () => {
    expect(read('---\ntitle: T\n--\n\nzebras\n')).toMatchObject({
      metadata: null,
      bodyStart: 0,
      problems: [{ line: 1 }],
    });
    expect(read('---\n\nzebras\n\n---\n')).toMatchObject({ bodyStart: 0, problems: [{ line: 3 }] });
  });

  it('says of a block beyond its limit that it is too long, not that it is never closed', () => {
    const lines = Array.from({ length: 8000 }, (_, i) => `key-${i}: value`);
    const [problem] = block(...lines).problems;
    expect(problem).toMatchObject({ line: 1, reason: expect.stringContaining('too long') });
    expect(problem?.reason).toContain(String(FRONT_MATTER_BYTES_MAX));
    const [open] = read(`---\n${lines.slice(0, 5).join('\n')}\n`).problems;
    expect(open).toMatchObject({ line: 1, reason: expect.stringContaining('never closed') });
  });

  it('skips a block that is not UTF-8', () => {
    const body = bytes('---\ntitle: x\n---\nbody');
    body[11] = 0xff;
    expect(readFrontMatter(body)).toMatchObject({ metadata: null, bodyStart: 17 });
  });

  it.each([
    ['lists in lines', `a:\n${'- '.repeat(8000)}x`],
    ['open lists', `a: ${'['.repeat(8000)}`],
    ['closed lists', `a: ${'['.repeat(8000)}${']'.repeat(8000)}`],
    ['explicit keys', `a: b\n${'? '.repeat(8000)}`],
    ['open maps', `a: ${'{a: '.repeat(4000)}`],
    ['indentation', Array.from({ length: 300 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
  ])('refuses nesting without recursion: %s', (_, lines) => {
    expect(block(lines)).toMatchObject({
      metadata: null,
      problems: [{ reason: 'nested deeper than 64 levels' }],
    });
  });

  it('does not follow aliases', () => {
    const lines = ['a: &a [x, x]', ...'bcdefgh'.split('').map((key) => `${key}: [*a, *a, *a]`)];
    expect(plain(block(...lines))).toEqual({ a: 'x, x' });
  });

  it('never throws, and what it gives is valid', () => {
    const piece = fc.constantFrom(
      ...['a', 'tags', ': ', '\n', '  ', '- ', '[', ']', '{', '}', '"', "'", '|', '>', '&x ', '*x'],
      ...[',', '#', '? ', '!t ', '%', '\t', '\r', 'version', 'é', '--- ', '\ufeff', '\u0085', '\0'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => {
        const found = block('k: v', pieces.join(''));
        expect(checkMetadata(found.metadata)).toBeNull();
        expect(found).toEqual(block('k: v', pieces.join('')));
      }),
      { numRuns: 2000 },
    );
  });
});
