/**
 * The old store's strict decoder: an object is refused unless encoding what was read gives its very
 * bytes again. So whatever is unknown, doubled, out of order or spelled otherwise is refused
 * without a rule of its own; of U+0008 and U+000C either spelling is taken, in one object alike.
 */
import { demand, OldStoreError } from './error.ts';
import { Fields } from './fields.ts';
import type { Spelling } from './go-json.ts';
import {
  CHANGE_BLOCK,
  HEAD_KEY,
  historyKey,
  manifestKey,
  rootKey,
  sha256,
  shardKey,
  shardLabel,
} from './names.ts';
import {
  checkReceipts,
  readBlock,
  readChangeBlock,
  readHead,
  readManifest,
  readRoot,
  readShard,
} from './readers.ts';
import {
  encodeBlock,
  encodeChangeBlock,
  encodeHead,
  encodeManifest,
  encodeRoot,
  encodeShard,
  type OldBlock,
  type OldChangeBlock,
  type OldEntry,
  type OldHead,
  type OldManifest,
  type OldRange,
  type OldRoot,
  type OldShard,
} from './records.ts';
import { utf8 } from './stored.ts';

const SPELLINGS: readonly Spelling[] = ['short', 'long'];

/** A head. */
export function decodeHead(bytes: Uint8Array): OldHead {
  return decode(HEAD_KEY, bytes, readHead, encodeHead);
}

/** The root that a head names. */
export function decodeRoot(hash: string, bytes: Uint8Array): OldRoot {
  return decode(named(rootKey(hash), hash, bytes), bytes, readRoot, encodeRoot);
}

/** A shard that a root names. */
export function decodeShard(index: number, hash: string, bytes: Uint8Array): OldShard {
  const key = named(shardKey(shardLabel(index), hash), hash, bytes);
  const shard = decode(key, bytes, readShard, encodeShard);
  demand(shard.index === index, key, `is shard ${shard.index}`);
  return shard;
}

/** The manifest of an entry, which it must agree with. */
export function decodeManifest(entry: OldEntry, bytes: Uint8Array): OldManifest {
  const { pathHash, manifestHash: hash } = entry;
  const key = named(manifestKey(pathHash, hash), hash, bytes);
  const manifest = decode(key, bytes, readManifest, encodeManifest);
  demand(manifest.pathHash === pathHash, key, 'is of another document');
  demand(manifest.current === entry.current, key, 'has another current version');
  demand(manifest.archived === entry.archived, key, 'differs in what is archived');
  return manifest;
}

/** A history block of a document, as a range of its manifest says. */
export function decodeBlock(pathHash: string, range: OldRange, bytes: Uint8Array): OldBlock {
  const key = named(historyKey(range.hash), range.hash, bytes);
  const block = decode(key, bytes, readBlock, encodeBlock);
  const { first, last } = block;
  demand(block.pathHash === pathHash, key, 'is of another document');
  demand(first === range.first && last === range.last, key, `holds ${first} to ${last}`);
  return block;
}

/** A change block, of exactly the receipts that belong in it. */
export function decodeChangeBlock(block: number, key: string, bytes: Uint8Array): OldChangeBlock {
  const change = decode(key, bytes, readChangeBlock, encodeChangeBlock);
  const first = Math.max(CHANGE_BLOCK * block + 1, 2);
  const count = CHANGE_BLOCK * (block + 1) - first + 1;
  demand(change.first === first, key, `begins at ${change.first}, not ${first}`);
  checkReceipts(key, change.receipts, first, count);
  return change;
}

function decode<T>(
  key: string,
  bytes: Uint8Array,
  read: (fields: Fields) => T,
  encode: (value: T, spelling?: Spelling) => Uint8Array,
): T {
  const value = read(new Fields(key, parse(key, bytes)));
  const same = SPELLINGS.some((spelling) => Buffer.compare(encode(value, spelling), bytes) === 0);
  demand(same, key, 'is not spelled canonically');
  return value;
}

function parse(key: string, bytes: Uint8Array): unknown {
  const text = utf8(key, bytes);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new OldStoreError('integrity', key, 'is not JSON', error);
  }
}

function named(key: string, hash: string, bytes: Uint8Array): string {
  demand(sha256(bytes) === hash, key, 'has another hash than its name');
  return key;
}
