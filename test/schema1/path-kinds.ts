/** Documents whose paths, titles and metadata are hard to spell. */
import { sha256, shardOf } from './names.ts';
import { type DocumentPlan, once } from './plan.ts';

const PATH_BYTES_MAX = 4087;

/** One document for each kind of path. */
export function pathKinds(): readonly DocumentPlan[] {
  const astral = '/fixtures/\u{1d49c}\u{1f680}.md';
  return [
    once(
      'policy',
      '/.well-known/demarkus/policy.md',
      '# Policy\n\nstrictness: warn\nrequire_tags: area\nrequire_fields: type\n',
      ['type', 'Policy'],
      ['tags', 'area:policy'],
    ),
    once('hidden-directory', '/.well-known/notes/hidden.md', '# Hidden\n', ['type', 'Document']),
    once('hidden-name', '/fixtures/.secret.md', 'No heading.\n', ['type', 'Document']),
    once('hidden-versions', '/a/versions/b.md', '# Behind versions\n', ['type', 'Document']),
    once('no-suffix', '/fixtures/no-suffix', '# Any path will do\n'),
    once('long-path', longPath(), '# A long way\n', ['type', 'Document']),
    once(
      'html',
      '/fixtures/<b>&amp;"quoted"\\back.md',
      '# <b>Bold</b> & more\n',
      ['agent', 'bot <bot@example.org> & sons'],
      ['description', '<p class="a">&nbsp;</p>'],
      ['title', 'Tom & <Jerry> "say" \\o/'],
    ),
    once('tab', '/fixtures/tab\there.md', '# Tab\n', ['note', 'one\ttwo'], ['type', 'Document']),
    once(
      'line-separators',
      '/fixtures/line\u2028paragraph\u2029.md',
      'Text.\n',
      ['note', 'a\u2028b\u2029c\u0085d\u007fe'],
      ['title', 'Line\u2028Separated\u2029Title'],
    ),
    once('composed', '/fixtures/caf\u00e9.md', '# Caf\u00e9\n', ['title', 'Caf\u00e9']),
    once('decomposed', '/fixtures/cafe\u0301.md', '# Cafe\u0301\n', ['title', 'Cafe\u0301']),
    once('astral', astral, '# \u{1f680} Rocket\n', ['tags', '\u{1d49c}, \u{1f680}']),
    // Between them the orders of UTF-8 and of UTF-16 differ, which shows in one shard only.
    once('private-use', inShardOf(astral, '/fixtures/\ue000\uff5e'), '# Private\n'),
    ...['short', 'long'].map((spelling) => control(spelling)),
  ];
}

/** U+0008 and U+000C in metadata, in a shard of either parity: see `shardSpelling`. */
function control(spelling: string): DocumentPlan {
  const odd = spelling === 'short' ? 1 : 0;
  const path = firstPath(`/fixtures/controls-${spelling}-`, (shard) => shard % 2 === odd);
  const plan = once(
    `controls-${spelling}`,
    path,
    '# Controls\n',
    ['agent', 'old\bagent'],
    ['note', 'a\bb\fc\\bd\u0001\u001fe'],
    ['tags', 'x\by, z'],
    ['title', 'Back\bspace and form\ffeed'],
  );
  return { ...plan, last: true };
}

/** The spelling of U+0008 and U+000C that a shard of a world of both has. */
export function shardSpelling(index: number): 'short' | 'long' {
  return index % 2 === 0 ? 'long' : 'short';
}

function inShardOf(path: string, prefix: string): string {
  const wanted = shardOf(sha256(path));
  return firstPath(prefix, (shard) => shard === wanted);
}

function firstPath(prefix: string, isWanted: (shard: number) => boolean): string {
  for (let number = 0; ; number++) {
    const path = `${prefix}${number}.md`;
    if (isWanted(shardOf(sha256(path)))) return path;
  }
}

/** As long as a path may be, in bytes. */
function longPath(): string {
  const start = `/fixtures${'/\u00fcber-long'.repeat(300)}`;
  return `${start}/${'x'.repeat(PATH_BYTES_MAX - Buffer.byteLength(start) - 4)}.md`;
}
