/** Documents whose bodies, metadata or records are unusual, and valid. */
import { contentOf, type DocumentPlan, metadataOf, once, written } from './plan.ts';

/** One document for each kind of contents. */
export function contentKinds(): readonly DocumentPlan[] {
  return [...bodyKinds(), ...metadataKinds(), ...titleKinds()];
}

function bodyKinds(): readonly DocumentPlan[] {
  const twin = (name: string): DocumentPlan =>
    once('twin', `/fixtures/${name}.md`, '# Twins\n', ['type', 'Document']);
  return [
    once('empty-body', '/fixtures/empty.md', '', ['type', 'Document']),
    once('front-matter-body', '/fixtures/front.md', '---\ntitle: Mine\n---\n# Body\n'),
    once('fence-body', '/fixtures/fence.md', '---\n\n---\n'),
    once('no-newline', '/fixtures/no-newline.md', '# No newline'),
    once('carriage-returns', '/fixtures/crlf.md', '# Windows\r\n\r\nText\r\n'),
    once('zero-bytes', '/fixtures/zero.md', '# Zero\n\u0000\u0001\ufeff\n', ['type', 'Document']),
    once('byte-order-mark', '/fixtures/bom.md', '\ufeff# Mark\n'),
    once(
      'large-body',
      '/fixtures/large.md',
      `# Large\n${'0123456789abcde\n'.repeat(65_535)}12345678`,
    ),
    // Both have the same stored bytes, so they share a blob.
    twin('castor'),
    twin('pollux'),
  ];
}

function metadataKinds(): readonly DocumentPlan[] {
  return [
    once('no-metadata', '/fixtures/bare.md', '# Bare\n'),
    {
      ...written('legacy-tags', '/fixtures/legacy.md', 2, (version) => ({
        metadata: metadataOf(['tags', 'legacy,first'], ['type', 'Document'], ['zone', 'z']),
        body: Buffer.from(`# Legacy ${version}\n`),
        stored: { legacyTags: version === 1 },
      })),
    },
    written('legacy-tags-current', '/fixtures/legacy-current.md', 1, () => ({
      metadata: metadataOf(['tags', 'legacy,current'], ['type', 'Document']),
      body: Buffer.from('# Legacy, never written again\n'),
      stored: { legacyTags: true },
    })),
    written('archived-line', '/fixtures/archived-line.md', 1, () => ({
      ...contentOf('# Imported\n'),
      stored: { archivedLine: true },
    })),
    once(
      'unnormalised',
      '/fixtures/unnormalised.md',
      '# Another title\n',
      ['importance', ' 0.80 '],
      ['tags', 'go, storage'],
      ['title', '  Spaced \u00a0title\u3000'],
    ),
    once(
      'blank-values',
      '/fixtures/blank.md',
      '# Blank\n',
      ['importance', ' '],
      ['tags', ' , '],
      ['title', ''],
    ),
    once('importance-small', '/fixtures/small.md', '# Small\n', ['importance', '0.0000001']),
    once('importance-outside', '/fixtures/outside.md', '# Outside\n', ['importance', '7']),
    once('importance-text', '/fixtures/text.md', '# Text\n', ['importance', 'high']),
    once('importance-exponent', '/fixtures/exponent.md', '# E\n', ['importance', '1e-1']),
    once('importance-spelled', '/fixtures/spelled.md', '# Spelled\n', ['importance', '+.250']),
    // Objects of JavaScript put such keys in another order, or have them already.
    once(
      'numeric-keys',
      '/fixtures/numbers.md',
      '# Numbers\n',
      ['10', 'ten'],
      ['9', 'nine'],
      ['a', 'letter'],
      ['constructor', 'inherited'],
      ['tags', '10, 9'],
    ),
    once('many-keys', '/fixtures/many.md', '# Many\n', ...fullMetadata()),
  ];
}

/** As many keys and bytes as metadata may have. */
function fullMetadata(): readonly (readonly [string, string])[] {
  const pairs = Array.from({ length: 49 }, (_, i): readonly [string, string] => {
    return [`key-${String(i).padStart(2, '0')}`, `value ${i % 10} \u00e9`];
  });
  const bytes = pairs.reduce((sum, pair) => sum + Buffer.byteLength(pair.join('')), 0);
  return [...pairs, ['rest', 'r'.repeat(1024 - bytes - 4)]];
}

function titleKinds(): readonly DocumentPlan[] {
  return [
    once('title-of-file', '/fixtures/ leading space.md', 'Nothing but text.\n'),
    once('title-leading-space', '/fixtures/heading.md', '#   Spaces before\n'),
    once('title-after-fence', '/fixtures/code.md', '```\n# no\n```\n    # no\n   # Yes\n'),
    once('title-long', '/fixtures/title.md', `# ${'\u00fc\u{1f680} '.repeat(500)}end\n`),
    once('title-mark', '/fixtures/mark.md', 'Text\n', ['title', '\u0085\ufeffMarked\u2028']),
  ];
}
