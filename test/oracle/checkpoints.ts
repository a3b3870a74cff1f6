/**
 * The oracle's own decoders of what a checkpoint consists of. As those of `objects.ts` they share
 * no code with the store, are short, and check what an object says of itself; whether it is true is
 * for those to say who know the log.
 */
import { demand, type Loose, OracleError, parse, sha256 } from './objects.ts';

/** A run as a root names it, of the sequences beyond `after` up to `through`. */
export interface OracleRunRef {
  readonly after: number;
  readonly through: number;
  readonly epoch: number;
  readonly hash: string;
}

export interface OraclePackRef {
  readonly bytes: number;
  readonly directory: readonly [length: number, hash: string];
  readonly epoch: number;
  readonly first: number;
  readonly hash: string;
  readonly last: number;
  readonly versions: number;
}

export interface OracleRoot {
  readonly sequence: number;
  readonly packed_through: number;
  readonly base: { readonly position: number; readonly documents: number };
  readonly runs: readonly OracleRunRef[];
  readonly records: readonly OracleRunRef[];
  readonly packs: readonly OraclePackRef[];
}

export interface OracleTableRef {
  readonly bytes: number;
  readonly directory: readonly [length: number, hash: string];
  readonly entries: number;
  readonly epoch: number;
  readonly first: string;
  readonly last: string;
  readonly hash: string;
}

export interface OracleManifest {
  readonly kind: 'run' | 'records';
  readonly after: number;
  readonly through: number;
  readonly entries: number;
  readonly objects: readonly OracleTableRef[];
}

/** An entry of a table: what is said of a document. */
export interface OracleTableEntry {
  readonly path: string;
  readonly said: Loose;
}

export function decodeRoot(key: string, bytes: Uint8Array): OracleRoot {
  const root = parse(key, Buffer.from(bytes).toString());
  demand(root['schema'] === 2, key, 'is of another schema');
  const names = Object.keys(root).sort().join();
  demand(names === 'base,packed_through,packs,records,runs,schema,sequence', key, `has ${names}`);
  return root as unknown as OracleRoot;
}

export function decodeManifest(key: string, bytes: Uint8Array): OracleManifest {
  const value = parse(key, Buffer.from(bytes).toString());
  demand(value['schema'] === 2, key, 'is of another schema');
  const manifest = value as unknown as OracleManifest;
  let sum = 0;
  let before = '';
  for (const { entries, first, last } of manifest.objects) {
    sum += entries;
    demand(before === '' || comparePaths(before, first) < 0, key, `${first} is out of order`);
    demand(comparePaths(first, last) <= 0, key, `${last} is out of order`);
    before = last;
  }
  demand(sum === manifest.entries, key, `counts ${manifest.entries} entries, not ${sum}`);
  return manifest;
}

/** The entries of a whole table, which must be what its manifest says. */
export function decodeTable(
  key: string,
  kind: 'segment' | 'records',
  ref: OracleTableRef,
  bytes: Uint8Array,
  blockBytes: number,
): readonly OracleTableEntry[] {
  const buffer = Buffer.from(bytes);
  demand(buffer.length === ref.bytes, key, `has ${buffer.length} bytes, not ${ref.bytes}`);
  const head = buffer.subarray(0, ref.directory[0]);
  demand(sha256(head) === ref.directory[1], key, 'directory has another hash');
  demand(head.indexOf(10) === head.length - 1, key, 'directory is not its first line');
  const directory = parse(key, head.toString('utf8', 0, head.length - 1));
  demand(directory['kind'] === kind, key, `is a table of ${directory['kind']}`);
  const data = buffer.subarray(head.length);
  checkBlocks(key, data, directory['blocks'] as readonly string[], blockBytes);
  const { entries: range } = directory['ranges'] as { entries: readonly [number, number] };
  const entries = entriesOf(key, data.subarray(range[0], range[0] + range[1]));
  demand(entries.length === ref.entries, key, `has ${entries.length} entries, not ${ref.entries}`);
  demand(directory['entries'] === entries.length, key, 'counts its entries wrongly');
  demand(entries[0]?.path === ref.first, key, `begins with ${entries[0]?.path}`);
  demand(entries.at(-1)?.path === ref.last, key, `ends with ${entries.at(-1)?.path}`);
  for (const [path, row] of directory['marks'] as readonly [string, number, number][]) {
    demand(entries[row]?.path === path, key, `its mark of ${path} is elsewhere`);
  }
  return entries;
}

function checkBlocks(
  key: string,
  data: Buffer,
  blocks: readonly string[],
  blockBytes: number,
): void {
  const count = Math.ceil(data.length / blockBytes);
  demand(blocks.length === count, key, `has ${blocks.length} blocks, not ${count}`);
  for (const [index, hash] of blocks.entries()) {
    const block = data.subarray(index * blockBytes, (index + 1) * blockBytes);
    demand(sha256(block) === hash, key, `block ${index} has another hash`);
  }
}

function entriesOf(key: string, bytes: Buffer): OracleTableEntry[] {
  const entries: OracleTableEntry[] = [];
  let before: Buffer | null = null;
  for (let at = 0; at < bytes.length; ) {
    demand(at + 6 <= bytes.length, key, 'ends inside an entry');
    const json = at + 6 + bytes.readUInt16BE(at);
    const end = json + bytes.readUInt32BE(at + 2);
    demand(end <= bytes.length, key, 'ends inside an entry');
    const path = bytes.subarray(at + 6, json);
    demand(before === null || before.compare(path) < 0, key, `${path} is out of order`);
    entries.push({ path: path.toString(), said: parse(key, bytes.toString('utf8', json, end)) });
    before = path;
    at = end;
  }
  return entries;
}

export interface OracleBlock {
  readonly path_hash: string;
  readonly first: number;
  readonly last: number;
  readonly records: readonly unknown[];
}

export function decodeBlock(key: string, bytes: Uint8Array): OracleBlock {
  const value = parse(key, Buffer.from(bytes).toString());
  demand(value['schema'] === 2, key, 'is of another schema');
  return value as unknown as OracleBlock;
}

/** The stored versions of a whole pack by their sequences. */
export function decodePack(
  key: string,
  ref: OraclePackRef,
  bytes: Uint8Array,
): ReadonlyMap<number, Uint8Array> {
  const buffer = Buffer.from(bytes);
  demand(buffer.length === ref.bytes, key, `has ${buffer.length} bytes, not ${ref.bytes}`);
  const [length, hash] = ref.directory;
  demand(sha256(buffer.subarray(0, length)) === hash, key, 'directory has another hash');
  const end = buffer.indexOf(10);
  const line = parse(key, buffer.toString('utf8', 0, end));
  const { first, last, versions } = ref;
  const right = line['first'] === first && line['last'] === last && line['versions'] === versions;
  demand(right, key, 'its first line is not what the root says');
  demand(end + 1 + 48 * versions === length, key, `its directory is not of ${length} bytes`);
  const found = new Map<number, Uint8Array>();
  let offset = length;
  let before = 0;
  for (let row = 0; row < versions; row++) {
    const at = end + 1 + 48 * row;
    const sequence = Number(buffer.readBigUInt64BE(at));
    demand(sequence > before, key, `sequence ${sequence} is out of order`);
    demand(buffer.readUInt32BE(at + 8) === offset, key, `sequence ${sequence} is elsewhere`);
    const stored = buffer.subarray(offset, offset + buffer.readUInt32BE(at + 12));
    const named = buffer.toString('hex', at + 16, at + 48);
    demand(sha256(stored) === named, key, `sequence ${sequence} has another hash`);
    found.set(sequence, stored);
    offset += stored.length;
    before = sequence;
  }
  demand(offset === buffer.length, key, 'has bytes that belong to nothing');
  demand(found.has(first) && before === last, key, `is not of ${first} to ${last}`);
  return found;
}

/** As every order of the format: by UTF-8 bytes. */
export function comparePaths(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** A decoder's error for a thing that is not where it is named. */
export function absent(key: string, namedBy: string): OracleError {
  return new OracleError(key, `is not there, and ${namedBy} names it`);
}
