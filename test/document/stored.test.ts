/**
 * Goal: stored versions have one spelling, and nothing else is taken for one. Method: golden bytes,
 * every line of the grammar spoiled, and a round trip of random versions in both directions.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { sha256Hex, sha256HexPortable } from '../../bucketstore/base/digest.ts';
import {
  appendBody,
  BODY_BYTES_MAX,
  bodyHash,
  formatHash,
  parseHash,
} from '../../bucketstore/document/body.ts';
import { checkMetadata, normaliseMetadata } from '../../bucketstore/document/metadata.ts';
import {
  DOCUMENT_VERSION_MAX,
  inspectStored,
  STORED_BYTES_MAX,
  STORED_HEADER_BYTES_MAX,
  StoredVersionError,
  storeVersion,
} from '../../bucketstore/document/stored.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (data: Uint8Array): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(data);
const HASH = 'a'.repeat(64);
const V1 = '---\nversion: 1\narchived: false\n';
const V2 = `---\nversion: 2\narchived: false\nprevious-hash: sha256-${HASH}\n`;

describe('golden stored versions', () => {
  const first = storeVersion({
    version: 1,
    previousHash: null,
    metadata: { tags: 'alpha,beta', importance: '0.5' },
    body: bytes('# A\n'),
  });
  const second = storeVersion({
    version: 2,
    previousHash: sha256Hex(first),
    metadata: { type: 'Document', tags: 'alpha,beta' },
    body: bytes('# A\nmore\n'),
  });

  it('`storeVersion()` gives the bytes and hash of version 1', () => {
    expect(text(first)).toBe(`${V1}meta.importance: 0.5\ntags: [alpha, beta]\n---\n# A\n`);
    expect(first).toHaveLength(80);
    expect(sha256Hex(first)).toBe(
      '6b2081134bf6a2ae4b8113fda34ff19c80662a9f3285c66b28e2f19a9bf04b75',
    );
  });

  it('`storeVersion()` gives the bytes and hash of version 2', () => {
    expect(second).toHaveLength(166);
    expect(sha256HexPortable(second)).toBe(
      'f84688ce7f8303e4ea030dbfb7f93e34c10ed2519665abcf150dca6a7ceff384',
    );
  });

  it('`bodyHash()` gives the golden hash', () => {
    const hash = 'aa1237b773c38dbddef583c4868aaea7a44c5237ea7923aecca5513764b42d80';
    expect(bodyHash(bytes('# A\n'))).toBe(hash);
    expect(parseHash(formatHash(hash))).toBe(hash);
  });

  it('`inspectStored()` reads them back', () => {
    const stored = inspectStored(second);
    expect(stored).toMatchObject({ version: 2, archived: false, previousHash: sha256Hex(first) });
    expect({ ...stored.metadata }).toEqual({ type: 'Document', tags: 'alpha,beta' });
    expect(text(second.subarray(stored.bodyOffset))).toBe('# A\nmore\n');
  });
});

describe('`storeVersion()`', () => {
  it('sorts by bare key and prefixes what is not a bare key', () => {
    const metadata = { type: 'T', 'a-1': 'x', title: 'ü', agent: '', '0': 'z', timestamp: 't' };
    const stored = storeVersion({ version: 1, previousHash: null, metadata, body: bytes('') });
    expect(text(stored)).toBe(
      `${V1}meta.0: z\nmeta.a-1: x\nmeta.agent: \ntimestamp: t\ntitle: ü\ntype: T\n---\n`,
    );
  });

  it('writes no line without metadata, and an empty list for no tags', () => {
    const base = { version: 1, previousHash: null, body: bytes('x') };
    expect(text(storeVersion({ ...base, metadata: null }))).toBe(`${V1}---\nx`);
    expect(text(storeVersion({ ...base, metadata: { tags: '' } }))).toBe(`${V1}tags: []\n---\nx`);
  });

  it.each([
    ['version 0', 0, null],
    ['a version above the last', DOCUMENT_VERSION_MAX + 1, HASH],
    ['a fraction', 1.5, HASH],
    ['version 2 without previous hash', 2, null],
    ['version 1 with a previous hash', 1, HASH],
    ['a previous hash with prefix', 2, `sha256-${HASH}`],
  ])('refuses %s', (_, version, previousHash) => {
    expect(() => storeVersion({ version, previousHash, metadata: null, body: bytes('') })).toThrow(
      InvariantError,
    );
  });

  it('refuses metadata that nobody checked', () => {
    const metadata = { title: 'a\nversion: 9' };
    expect(() =>
      storeVersion({ version: 1, previousHash: null, metadata, body: bytes('') }),
    ).toThrow(InvariantError);
  });
});

describe('`inspectStored()`', () => {
  it.each([
    ['archived, as older tools wrote it', '---\nversion: 1\narchived: true\n---\n', true],
    ['a body that begins with its own fence', `${V1}---\n---\ntitle: x\n---\n`, false],
    ['an empty body', `${V1}---\n`, false],
    ['the last version', `${V2.replace('2', '2147483647')}---\n`, false],
  ])('takes %s', (_, stored, archived) => {
    expect(inspectStored(bytes(stored))).toMatchObject({ archived, metadata: null });
  });

  it('keeps the body byte for byte, whatever it begins with', () => {
    const body = Uint8Array.of(0xef, 0xbb, 0xbf, 0x2d, 0x2d, 0x2d, 0x0d, 0x0a, 0xff);
    const stored = storeVersion({ version: 1, previousHash: null, metadata: null, body });
    expect(stored.subarray(inspectStored(stored).bodyOffset)).toEqual(body);
  });

  it('takes `meta.tags` in the place of `tags`', () => {
    const older = `${V1}meta.owner: x\nmeta.tags: a, b\ntitle: T\n---\n`;
    expect({ ...inspectStored(bytes(older)).metadata }).toEqual({
      owner: 'x',
      tags: 'a,b',
      title: 'T',
    });
  });

  it('finds nothing in the prototype of metadata', () => {
    const { metadata } = inspectStored(bytes(`${V1}meta.constructor: x\n---\n`));
    expect(Object.getPrototypeOf(metadata)).toBeNull();
    expect(metadata?.['constructor']).toBe('x');
  });

  it.each([
    ['nothing', '', 1],
    ['no opening fence', 'version: 1\n', 1],
    ['text before the fence', ` ${V1}---\n`, 1],
    ['a byte order mark', `\ufeff${V1}---\n`, 1],
    ['CRLF', V1.replaceAll('\n', '\r\n'), 1],
    ['no closing fence', V1, 1],
    ['a closing fence without newline', `${V1}---`, 1],
    ['a closing fence with a space', `${V1}--- \n`, 1],
    ['an empty block', '---\n---\n', 2],
    ['a blank line', '---\n\nversion: 1\narchived: false\n---\n', 2],
    ['version 0', '---\nversion: 0\narchived: false\n---\n', 2],
    ['a padded version', '---\nversion: 01\narchived: false\n---\n', 2],
    ['a signed version', '---\nversion: +1\narchived: false\n---\n', 2],
    ['a version above the last', V2.replace('2', '2147483648').concat('---\n'), 2],
    ['a version with a space', '---\nversion: 1 \narchived: false\n---\n', 2],
    ['a version without space', '---\nversion:1\narchived: false\n---\n', 2],
    ['two spaces', '---\nversion:  1\narchived: false\n---\n', 2],
    ['another first key', '---\narchived: false\nversion: 1\n---\n', 2],
    ['no archived', '---\nversion: 1\n---\n', 3],
    ['archived neither true nor false', '---\nversion: 1\narchived: no\n---\n', 3],
    ['version 2 without previous hash', '---\nversion: 2\narchived: false\n---\n', 4],
    ['version 1 with previous hash', V2.replace('2', '1').concat('---\n'), 4],
    ['a previous hash without prefix', `${V2.replace('sha256-', '')}---\n`, 4],
    ['a previous hash in upper case', `${V2.replace(HASH, HASH.toUpperCase())}---\n`, 4],
    ['a short previous hash', `${V2.replace(HASH, HASH.slice(1))}---\n`, 4],
    ['an unknown bare key', `${V1}owner: x\n---\n`, 4],
    ['a reserved key', `${V1}meta.version: 1\nmeta.x: y\n---\n`, 4],
    ['a prefix alone', `${V1}meta.: 1\n---\n`, 4],
    ['an indented key', `${V1} title: x\n---\n`, 4],
    ['a space before the colon', `${V1}title : x\n---\n`, 4],
    ['a line without colon', `${V1}title\n---\n`, 4],
    ['a value that ends at the colon', `${V1}title:\n---\n`, 4],
    ['a key that is not allowed', `${V1}meta.Owner: x\n---\n`, 4],
    ['a value with CR', `${V1}title: x\r\n---\n`, 4],
    ['a bad retention', `${V1}meta.retention: 0\n---\n`, 4],
    ['keys out of order', `${V1}title: x\nmeta.owner: x\n---\n`, 5],
    ['a key twice', `${V1}title: x\ntitle: x\n---\n`, 5],
    ['a key twice in two forms', `${V1}meta.tags: x\ntags: [x]\n---\n`, 5],
    ['too much metadata', `${V1}meta.a: ${'x'.repeat(1024)}\n---\n`, 4],
  ])('refuses %s, naming the line', (_, stored, line) => {
    const inspect = (): unknown => inspectStored(bytes(stored));
    expect(inspect).toThrow(StoredVersionError);
    expect(inspect).toThrow(`line ${line}: `);
  });

  it('reads a retention beyond 2^31 - 1 as the largest one', () => {
    for (const [spelled, read] of [
      ['+12', '+12'],
      ['2147483648', '2147483647'],
      ['9223372036854775807', '2147483647'],
    ]) {
      const stored = bytes(`${V1}meta.retention: ${spelled}\n---\n`);
      expect({ ...inspectStored(stored).metadata }).toEqual({ retention: read });
    }
    const beyond = bytes(`${V1}meta.retention: 9223372036854775808\n---\n`);
    expect(() => inspectStored(beyond)).toThrow('retention is a whole number');
  });

  it('refuses a block that is not UTF-8', () => {
    const spoiled = bytes(`${V1}title: x\n---\n`);
    spoiled[spoiled.indexOf(0x78)] = 0xff;
    expect(() => inspectStored(spoiled)).toThrow('line 4: is not UTF-8');
  });

  it('takes the largest body and refuses one byte more', () => {
    const store = (length: number): Uint8Array =>
      storeVersion({
        version: 1,
        previousHash: null,
        metadata: null,
        body: new Uint8Array(length),
      });
    expect(inspectStored(store(BODY_BYTES_MAX)).version).toBe(1);
    expect(() => inspectStored(store(BODY_BYTES_MAX + 1))).toThrow('body is longer');
    expect(() => inspectStored(new Uint8Array(STORED_BYTES_MAX + 1))).toThrow('longer than');
  });

  it('reads bytes that lie inside a larger buffer', () => {
    const stored = bytes(`${V1}title: T\n---\nbody`);
    const slot = new Uint8Array(stored.length + 20).fill(0x2d);
    slot.set(stored, 7);
    const inner = inspectStored(slot.subarray(7, 7 + stored.length));
    expect(inner).toEqual(inspectStored(stored));
  });
});

const bareKey = fc
  .string({ unit: fc.constantFrom(...'ab01-'), minLength: 1, maxLength: 12 })
  .filter((key) => key !== 'version');
const value = fc
  .string({ unit: 'binary', maxLength: 30 })
  .filter((line) => !line.includes('\n') && !line.includes('\r'));
const metadata = fc
  .dictionary(fc.oneof(fc.constantFrom('tags', 'title', 'constructor', 'type'), bareKey), value)
  .map(normaliseMetadata)
  .filter((candidate) => checkMetadata(candidate) === null);

describe('round trips', () => {
  it('what is stored reads back, and its block stays within its limit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: DOCUMENT_VERSION_MAX }),
        metadata,
        fc.uint8Array(),
        (version, given, body) => {
          const previousHash = version === 1 ? null : sha256Hex(body);
          const stored = storeVersion({ version, previousHash, metadata: given, body });
          const { bodyOffset, ...rest } = inspectStored(stored);
          expect(rest).toEqual({ version, archived: false, previousHash, metadata: given });
          expect(stored.subarray(bodyOffset)).toEqual(body);
          expect(bodyOffset).toBeLessThanOrEqual(STORED_HEADER_BYTES_MAX);
        },
      ),
    );
  });

  it('what is taken would be stored as the same bytes, however a byte was spoiled', () => {
    const stored = bytes(`${V2}meta.owner: x\ntags: [a, b]\ntitle: T\n---\nbody\n`);
    fc.assert(
      fc.property(fc.nat(stored.length - 1), fc.nat(255), (at, byte) => {
        const spoiled = Uint8Array.from(stored);
        spoiled[at] = byte;
        let read: ReturnType<typeof inspectStored>;
        try {
          read = inspectStored(spoiled);
        } catch (error) {
          expect(error).toBeInstanceOf(StoredVersionError);
          return;
        }
        // Tags alone have more than one spelling in what older tools wrote.
        const again = storeVersion({ ...read, body: spoiled.subarray(read.bodyOffset) });
        if (!text(spoiled.subarray(0, read.bodyOffset)).includes('\ntags: [a, b]\n')) return;
        expect(again).toEqual(spoiled);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('bodies', () => {
  it.each([
    ['', 'new', 'new'],
    ['old\n', 'new', 'old\nnew'],
    ['old', 'new', 'old\nnew'],
    ['old\r', 'new', 'old\r\nnew'],
    ['old\n\n', '\nnew\n', 'old\n\n\nnew\n'],
  ])('`appendBody()` of %j and %j is %j', (old, content, body) => {
    expect(text(appendBody(bytes(old), bytes(content)))).toBe(body);
  });

  it('`parseHash()` refuses any other spelling', () => {
    for (const hash of [HASH, `sha256-${HASH.slice(1)}`, `SHA256-${HASH}`, `sha256-${HASH}a`, '']) {
      expect(parseHash(hash)).toBeNull();
    }
    expect(parseHash(`sha256-${HASH.toUpperCase()}`)).toBeNull();
  });
});
