/**
 * Goal: one canonical form of a path, and nothing else reaches a document. Method: the rules' rows,
 * the paths of scenarios B40 and B42, and properties over random paths against a second
 * implementation.
 */
import { posix } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ancestors,
  canonicalPath,
  isDocumentPath,
  isHiddenName,
  nameOf,
  PATH_BYTES_MAX,
  parentOf,
  pathHash,
} from '../../bucketstore/document/path.ts';

/** Node's `normalize` is Go's `Clean`, but for a trailing slash, once no `..` is left. */
function reference(request: string): string | null {
  if (request.split('/').includes('..')) return null;
  const path = posix.normalize(`/${request}`);
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

const isControl = (point: string): boolean => (point < ' ' && point !== '\t') || point === '\u007f';

const segment = fc.oneof(
  fc.constantFrom('', '.', '..', 'a', 'b.md', '...', '.hidden', 'versions', 'ü', '😀', '\t'),
  fc.string({ unit: 'grapheme' }),
);
const request = fc.array(segment, { maxLength: 8 }).map((segments) => segments.join('/'));

describe('`canonicalPath()`', () => {
  it.each([
    ['', '/'],
    ['/', '/'],
    ['//', '/'],
    ['.', '/'],
    ['a.md', '/a.md'],
    ['/a.md', '/a.md'],
    ['/a//b.md', '/a/b.md'],
    ['/a/b.md/', '/a/b.md'],
    ['/./a/./b.md/.', '/a/b.md'],
    ['docs//live.md/', '/docs/live.md'],
    ['/a/...', '/a/...'],
    ['/a/..b', '/a/..b'],
    ['/a/b..', '/a/b..'],
    ['/a/with#hash.md', '/a/with#hash.md'],
    ['/a/with space.md', '/a/with space.md'],
    ['/a/100%.md', '/a/100%.md'],
    ['/a/x%2Fy.md', '/a/x%2Fy.md'],
    ['/a/q?z.md', '/a/q?z.md'],
    ['/a/plus+sign.md', '/a/plus+sign.md'],
    ['/a/..%2f..%2fhead.json', '/a/..%2f..%2fhead.json'],
    ['/a/.hidden.md', '/a/.hidden.md'],
    ['/a/\u202egnp.md', '/a/\u202egnp.md'],
    ['/a\tb', '/a\tb'],
    ['/\u0085', '/\u0085'],
    ['/__proto__', '/__proto__'],
    ['/constructor/prototype.md', '/constructor/prototype.md'],
  ])('makes %j to %j', (path, canonical) => {
    expect(canonicalPath(path)).toBe(canonical);
  });

  it.each([
    '..',
    '/..',
    '/a/../b.md',
    '/a/..',
    '../a',
    '//../a',
    '/a/nul\u0000.md',
    '/a\nb',
    '/a\rb',
    '/a\u001fb',
    '/a\u007fb',
    '/a\ud800b',
    'b/\udc00',
  ])('refuses %j', (path) => {
    expect(canonicalPath(path)).toBeNull();
    expect(isDocumentPath(path)).toBe(false);
  });

  it('counts the bytes of the canonical form: 4,087 pass, 4,088 do not', () => {
    const longest = `/${'a'.repeat(PATH_BYTES_MAX - 1)}`;
    expect(canonicalPath(longest)).toBe(longest);
    expect(canonicalPath(`/.//${longest}/`)).toBe(longest);
    expect(canonicalPath(`${longest}a`)).toBeNull();
    expect(canonicalPath(`/./${longest}a`)).toBeNull();
    const wide = `/${'ä'.repeat(2043)}`;
    expect(canonicalPath(wide)).toBe(wide);
    expect(canonicalPath(`${wide}a`)).toBeNull();
  });

  it('keeps NFC and NFD spellings apart', () => {
    const nfc = '/notes/Übersicht.md'.normalize('NFC');
    const nfd = nfc.normalize('NFD');
    expect([canonicalPath(nfc), canonicalPath(nfd)]).toEqual([nfc, nfd]);
    expect(pathHash(nfc)).not.toBe(pathHash(nfd));
  });

  it('agrees with a second implementation, and leaves its own result as it is', () => {
    fc.assert(
      fc.property(request, (path) => {
        fc.pre(![...path].some(isControl));
        const canonical = canonicalPath(path);
        expect(canonical).toBe(reference(path));
        if (canonical === null) return;
        expect(canonicalPath(canonical)).toBe(canonical);
        expect(isDocumentPath(canonical)).toBe(canonical !== '/');
        expect(isDocumentPath(path)).toBe(path === canonical && path !== '/');
      }),
    );
  });
});

describe('parts of a path', () => {
  it('`isDocumentPath()` takes canonical paths but the root', () => {
    expect(['/a', '/a/b.md', '/a/.x', '/versions'].filter(isDocumentPath)).toHaveLength(4);
    expect(['', '/', 'a', '/a/', '//a', '/./a', '/a/.'].filter(isDocumentPath)).toEqual([]);
  });

  it('`ancestors()`, `parentOf()` and `nameOf()` take a path apart', () => {
    expect(ancestors('/a/b/c.md')).toEqual(['/a', '/a/b']);
    expect(ancestors('/c.md')).toEqual([]);
    expect(ancestors('/')).toEqual([]);
    expect(['/a/b/c.md', '/c.md', '/'].map(parentOf)).toEqual(['/a/b', '/', '/']);
    expect(['/a/b/c.md', '/c.md', '/'].map(nameOf)).toEqual(['c.md', 'c.md', '']);
  });

  it('`isHiddenName()` holds for a leading dot and exactly `versions`', () => {
    const names = ['.x', '...', 'versions', 'Versions', 'versions.md', 'a.versions', 'x.', ''];
    expect(names.filter(isHiddenName)).toEqual(['.x', '...', 'versions']);
  });

  it('`pathHash()` gives the golden hash', () => {
    expect(pathHash('/a.md')).toBe(
      '1dcfc3ccd7bd35720bfad027ac2b7760a5b502c14404584d8ecdc7f77e566007',
    );
  });
});
