/**
 * Writes the objects behind the golden files of tables and run manifests from `docs/format.md`
 * alone: it shares no code with the store. For what the golden values are like, not for any value:
 * white space is ASCII, and lower case is what the engine says.
 */
import type { DocumentState, VersionRecord } from '../../bucketstore/snapshot/state.ts';
import type { RecordEntry } from '../../checkpoint/record-entry.ts';
import type { RunManifest } from '../../checkpoint/run-manifest.ts';
import { sha256, spell } from '../oracle/objects.ts';

const BLOCK = 65_536;

interface PlainEntry {
  readonly path: string;
  readonly said: unknown;
}

/** A segment of documents in the order of their paths. */
export function segmentBytes(states: readonly DocumentState[]): Buffer {
  const entries = states.map(({ path, current, first, archived, catalog }) => {
    const { version, storedHash: stored_hash, bodyHash: body_hash, modified, at } = current;
    const said = { archived, at, body_hash, catalog, first, modified, stored_hash, version };
    return { path, said };
  });
  return tableBytes('segment', entries, columnsOf(states));
}

/** A table of version records, in the order of their paths. */
export function recordsBytes(entries: readonly (RecordEntry & { path: string })[]): Buffer {
  const plain = entries.map(({ path, first, blocks, records }) => ({
    path,
    said: {
      first,
      blocks: blocks.map(({ first: from, hash, epoch }) => [from, hash, epoch]),
      records: records.map(recordOf),
    },
  }));
  return tableBytes('records', plain, {});
}

export function manifestBytes({ kind, after, through, entries, objects }: RunManifest): Buffer {
  const tables = objects.map(({ directory: { length, hash }, ...table }) => {
    return { ...table, directory: [length, hash] };
  });
  return Buffer.from(spell({ schema: 2, kind, after, through, entries, objects: tables }));
}

function recordOf({ version, storedHash, bodyHash, modified, at }: VersionRecord): unknown {
  return [version, storedHash, bodyHash, modified, at];
}

function tableBytes(
  kind: 'segment' | 'records',
  entries: readonly PlainEntry[],
  columns: { readonly [name: string]: Buffer },
): Buffer {
  let data = Buffer.alloc(0);
  const marks: unknown[] = [];
  let marked = -1;
  for (const [row, { path, said }] of entries.entries()) {
    // The first that begins at or behind a multiple of 64 KiB.
    if (Math.floor(data.length / BLOCK) > marked) {
      if (data.length > 0 || row === 0) marks.push([path, row, data.length]);
      marked = Math.floor(data.length / BLOCK);
    }
    const [name, json] = [Buffer.from(path), Buffer.from(spell(said))];
    const lengths = Buffer.alloc(6);
    lengths.writeUInt16BE(name.length);
    lengths.writeUInt32BE(json.length, 2);
    data = Buffer.concat([data, lengths, name, json]);
  }
  const end = data.length;
  const append = (bytes: Buffer): readonly [number, number] => {
    data = Buffer.concat([data, Buffer.alloc(-data.length & 7), bytes]);
    return [data.length - bytes.length, bytes.length];
  };
  const placed = Object.entries(columns).map(([name, bytes]) => [name, append(bytes)]);
  const ranges = {
    entries: [0, end],
    columns: Object.fromEntries(placed),
    postings: append(Buffer.alloc(0)),
  };
  const blocks: string[] = [];
  for (let at = 0; at < data.length; at += BLOCK) {
    blocks.push(sha256(data.subarray(at, at + BLOCK)));
  }
  const directory = { schema: 2, kind, entries: entries.length, ranges, marks, blocks };
  return Buffer.concat([Buffer.from(`${spell(directory)}\n`), data]);
}

/** By name, in the order of the names. */
function columnsOf(states: readonly DocumentState[]): { readonly [name: string]: Buffer } {
  const current = states.map((state) => state.current);
  const importances = states.map(({ catalog }) => catalog.metadata?.['importance'] ?? '0.5');
  const values = [...new Set(importances)].sort((a, b) => Number(a) - Number(b));
  const pairs = states.map(({ catalog }) => {
    const texts = Object.entries(catalog.metadata ?? {}).map(([key, value]) => `${key}=${value}`);
    return texts.map((text) => Number.parseInt(sha256(text).slice(0, 8), 16)).sort((a, b) => a - b);
  });
  const titles = states.map(({ catalog }) => Buffer.from(catalog.title));
  const words = wordColumns(titles.map((title) => title.toString().toLowerCase().split(/\s+/)));
  const tags = wordColumns(states.map(tagsOf));
  return {
    bodies: Buffer.concat(current.map(({ bodyHash }) => Buffer.from(bodyHash, 'hex'))),
    firsts: numbers(
      32,
      states.map((state) => state.first),
    ),
    flags: numbers(
      8,
      states.map((state) => Number(state.archived) + (isHidden(state) ? 2 : 0)),
    ),
    importance_values: Buffer.from(values.map((value) => `${value}\n`).join('')),
    importances: numbers(
      8,
      importances.map((value) => values.indexOf(value)),
    ),
    modified: numbers(
      32,
      current.map(({ modified }) => modified % 2 ** 32),
    ),
    modified_high: numbers(
      8,
      current.map(({ modified }) => Math.floor(modified / 2 ** 32)),
    ),
    pair_counts: numbers(
      8,
      pairs.map((row) => row.length),
    ),
    pairs: numbers(32, pairs.flat()),
    paths: pathColumn(states.map(({ path }) => Buffer.from(path))),
    stored: Buffer.concat(current.map(({ storedHash }) => Buffer.from(storedHash, 'hex'))),
    tag_rows: tags.rows,
    tags: tags.words,
    title_lengths: numbers(
      16,
      titles.map((title) => title.length),
    ),
    titles: Buffer.concat(titles),
    versions: numbers(
      32,
      current.map(({ version }) => version),
    ),
    word_rows: words.rows,
    words: words.words,
  };
}

function tagsOf({ catalog }: DocumentState): string[] {
  const tags = (catalog.metadata?.['tags'] ?? '').toLowerCase().split(',');
  return tags.map((tag) => tag.trim()).filter((tag) => tag !== '');
}

function isHidden({ path }: DocumentState): boolean {
  return path.split('/').some((segment) => segment.startsWith('.'));
}

/** Lowest byte first. */
function numbers(bits: 8 | 16 | 32, values: readonly number[]): Buffer {
  const bytes = Buffer.alloc((values.length * bits) / 8);
  for (const [row, value] of values.entries()) bytes.writeUIntLE(value, (row * bits) / 8, bits / 8);
  return bytes;
}

/** Groups of seven bits, the lowest first; all but the last with the eighth bit. */
function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

function pathColumn(paths: readonly Buffer[]): Buffer {
  const parts = paths.map((path, row) => {
    const before = row % 16 === 0 ? Buffer.alloc(0) : (paths[row - 1] ?? Buffer.alloc(0));
    let shared = 0;
    while (shared < before.length && before[shared] === path[shared]) shared += 1;
    const rest = path.subarray(shared);
    return Buffer.concat([Buffer.from([...varint(shared), ...varint(rest.length)]), rest]);
  });
  return Buffer.concat(parts);
}

function wordColumns(lists: readonly (readonly string[])[]): { words: Buffer; rows: Buffer } {
  const rowsOf = new Map<string, number[]>();
  for (const [row, words] of lists.entries()) {
    for (const word of new Set(words)) rowsOf.set(word, [...(rowsOf.get(word) ?? []), row]);
  }
  const order = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
  const sorted = [...rowsOf].sort(([a], [b]) => order(a, b));
  const rows = sorted.flatMap(([, having]) => {
    const distances = having.map((row, index) => row - (having[index - 1] ?? 0));
    return [having.length, ...distances].flatMap(varint);
  });
  return {
    words: Buffer.from(sorted.map(([word]) => `${word}\n`).join('')),
    rows: Buffer.from(rows),
  };
}
