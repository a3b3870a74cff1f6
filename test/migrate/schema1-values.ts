/** Objects of schema 1 that use every field, and what tests need to take them apart. */
import { expect } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { pathHash } from '../../bucketstore/document/path.ts';
import { parseTimestamp } from '../../bucketstore/document/timestamp.ts';
import { decodeChangeBlock, encodeChangeBlock } from '../../migrate/schema1-changes.ts';
import { decodeSchema1Head, encodeSchema1Head } from '../../migrate/schema1-head.ts';
import { decodeSchema1Block, encodeSchema1Block } from '../../migrate/schema1-history.ts';
import {
  changeBlockKey,
  HEAD_KEY,
  schema1HistoryKey,
  schema1ManifestKey,
  schema1RootKey,
  schema1ShardKey,
} from '../../migrate/schema1-keys.ts';
import { decodeSchema1Manifest, encodeSchema1Manifest } from '../../migrate/schema1-manifest.ts';
import type {
  ChangeBlock,
  Receipt,
  Schema1Block,
  Schema1Entry,
  Schema1Head,
  Schema1Manifest,
  Schema1Root,
} from '../../migrate/schema1-records.ts';
import { decodeSchema1Root, encodeSchema1Root, shardLabel } from '../../migrate/schema1-root.ts';
import { decodeSchema1Shard, encodeSchema1Shard, shardOf } from '../../migrate/schema1-shard.ts';
import { refusal } from '../log/forge.ts';

/** The world of the golden vectors. */
export const WORLD = '52b471f7-8d38-4c89-b44a-6f4f8b1a4f48';
export const MODIFIED: number = parseTimestamp('2026-08-22T12:34:56Z') ?? 0;

/** Another hash for each number. */
export function hashOf(number: number): string {
  return number.toString(16).padStart(64, '0');
}

/** Operations are more than one apart. */
export function operation(number: number): string {
  return `11111111-2222-4333-8444-${number.toString(16).padStart(11, '0').slice(-11)}0`;
}

/** A receipt that says what was committed, of sequence `number`. */
export function named(number: number): Receipt {
  const change = {
    path: `/notes/${number}.md`,
    op: 'append',
    agent: number % 2 === 0 ? 'ann' : '',
    version: (number % 1_000_000) + 1,
    bodyHash: hashOf(number),
  } as const;
  return { operationId: operation(number), sequence: number, change };
}

/** A receipt of the first releases. */
export function unnamed(number: number): Receipt {
  return { operationId: operation(number), sequence: number, change: null };
}

/** Receipts of consecutive sequences, of both kinds. */
export function receipts(first: number, last: number): Receipt[] {
  return Array.from({ length: last - first + 1 }, (_, index) =>
    index % 3 === 0 ? unnamed(first + index) : named(first + index),
  );
}

/** A head of this sequence, with the receipts that it must have. */
export function headOf(sequence: number): Schema1Head {
  const first = sequence - Math.min(sequence - 1, 16) + 1;
  return { worldId: WORLD, sequence, rootHash: hashOf(7), receipts: receipts(first, sequence) };
}

export const root: Schema1Root = {
  worldId: WORLD,
  documents: 3,
  shards: Array.from({ length: 256 }, (_, index) => hashOf(index)),
};

/** The entry of a document with metadata of its own, or none. */
export function entryOf(path: string, change: Partial<Schema1Entry> = {}): Schema1Entry {
  return {
    path,
    manifestHash: hashOf(8),
    version: 3,
    archived: false,
    bodyHash: hashOf(9),
    modified: MODIFIED,
    catalog: { title: 'A title', metadata: null },
    ...change,
  };
}

/** Three paths of one shard, in order. */
export const SHARD = '1d';
export const PATHS: readonly string[] = pathsOfShard(SHARD, 3);

export const entries: readonly Schema1Entry[] = PATHS.map((path, index) =>
  entryOf(path, {
    version: index + 1,
    archived: index === 1,
    catalog: {
      title: index === 0 ? ' First' : 'Given',
      metadata:
        index === 0 ? null : { importance: '0.8', owner: 'ann', tags: 'a,b', title: 'Given' },
    },
  }),
);

/** The manifest of the format's own example. */
export const manifest: Schema1Manifest = {
  pathHash: hashOf(11),
  version: 300,
  archived: false,
  blocks: [
    { pathHash: hashOf(11), first: 100, last: 256, hash: hashOf(12) },
    { pathHash: hashOf(11), first: 257, last: 300, hash: hashOf(13) },
  ],
};

export const block: Schema1Block = {
  pathHash: hashOf(11),
  first: 254,
  last: 256,
  versions: [254, 255, 256].map((version) => ({
    version,
    storedHash: hashOf(version),
    bodyHash: hashOf(version + 1000),
    modified: MODIFIED + version,
  })),
};

export const changes: ChangeBlock = { worldId: WORLD, first: 9, receipts: receipts(9, 16) };

/** A kind of object: a good one, and how bytes of it are addressed and read. */
export interface Kind {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The key under which bytes of this kind belong. */
  readonly keyOf: (bytes: Uint8Array) => string;
  readonly decode: (key: string, bytes: Uint8Array) => unknown;
  /** What was decoded, as bytes again. */
  readonly encode: (decoded: never) => Uint8Array;
}

export const HEAD: Kind = {
  name: 'head',
  bytes: encodeSchema1Head(headOf(20)),
  keyOf: () => HEAD_KEY,
  decode: (_, bytes) => decodeSchema1Head(bytes),
  encode: (head: Schema1Head) => encodeSchema1Head(head),
};
export const ROOT: Kind = {
  name: 'root',
  bytes: encodeSchema1Root(root),
  keyOf: (bytes) => schema1RootKey(sha256Hex(bytes)),
  decode: (key, bytes) => decodeSchema1Root(key, bytes, WORLD),
  encode: (decoded: Schema1Root) => encodeSchema1Root(decoded),
};
export const SHARD_KIND: Kind = {
  name: 'shard',
  bytes: encodeSchema1Shard(SHARD, entries),
  keyOf: (bytes) => schema1ShardKey(SHARD, sha256Hex(bytes)),
  decode: decodeSchema1Shard,
  encode: (decoded: readonly Schema1Entry[]) => encodeSchema1Shard(SHARD, decoded),
};
export const MANIFEST: Kind = {
  name: 'manifest',
  bytes: encodeSchema1Manifest(manifest),
  keyOf: (bytes) => schema1ManifestKey(manifest.pathHash, sha256Hex(bytes)),
  decode: decodeSchema1Manifest,
  encode: (decoded: Schema1Manifest) => encodeSchema1Manifest(decoded),
};
export const HISTORY: Kind = {
  name: 'history block',
  bytes: encodeSchema1Block(block),
  keyOf: (bytes) => schema1HistoryKey(sha256Hex(bytes)),
  decode: decodeSchema1Block,
  encode: (decoded: Schema1Block) => encodeSchema1Block(decoded),
};
export const CHANGES: Kind = {
  name: 'change block',
  bytes: encodeChangeBlock(changes),
  keyOf: () => changeBlockKey(1),
  decode: (key, bytes) => decodeChangeBlock(key, bytes, WORLD),
  encode: (decoded: ChangeBlock) => encodeChangeBlock(decoded),
};
export const KINDS: readonly Kind[] = [HEAD, ROOT, SHARD_KIND, MANIFEST, HISTORY, CHANGES];

/** What a text of this kind decodes to, under the key that it belongs under. */
export function accepted(kind: Kind, text: string): unknown {
  const bytes = Buffer.from(text);
  return kind.decode(kind.keyOf(bytes), bytes);
}

/** The message with which a text of this kind is refused, under the key that it belongs under. */
export function refused(kind: Kind, text: string): string {
  const bytes = Buffer.from(text);
  const key = kind.keyOf(bytes);
  return refusal(key, () => kind.decode(key, bytes)).message.slice(key.length + 2);
}

/** The text of a good object in which the first `from` is `to`. */
export function altered(kind: Kind, from: string | RegExp, to: string): string {
  const text = Buffer.from(kind.bytes).toString();
  const forged = text.replace(from, () => to);
  expect(forged).not.toBe(text);
  return forged;
}

/** The entries of a shard whose one document is at `path`, as text under its key. */
export function shardWith(entry: Schema1Entry): Kind {
  const shard = shardOf(entry.path);
  return {
    ...SHARD_KIND,
    bytes: encodeSchema1Shard(shard, [entry]),
    keyOf: (bytes) => schema1ShardKey(shard, sha256Hex(bytes)),
    encode: (decoded: readonly Schema1Entry[]) => encodeSchema1Shard(shard, decoded),
  };
}

/** The 258 objects of a new world, by key; the head is the last. */
export function genesis(worldId: string): Map<string, Uint8Array> {
  const objects = new Map<string, Uint8Array>();
  const shards: string[] = [];
  for (let index = 0; index < 256; index++) {
    const bytes = encodeSchema1Shard(shardLabel(index), []);
    const hash = sha256Hex(bytes);
    shards.push(hash);
    objects.set(schema1ShardKey(shardLabel(index), hash), bytes);
  }
  const rootBytes = encodeSchema1Root({ worldId, documents: 0, shards });
  const rootHash = sha256Hex(rootBytes);
  objects.set(schema1RootKey(rootHash), rootBytes);
  objects.set(HEAD_KEY, encodeSchema1Head({ worldId, sequence: 1, rootHash, receipts: [] }));
  return objects;
}

function pathsOfShard(shard: string, count: number): string[] {
  const found: string[] = [];
  for (let number = 0; found.length < count; number++) {
    const path = `/n${number.toString().padStart(4, '0')}.md`;
    if (pathHash(path).startsWith(shard)) found.push(path);
  }
  return found;
}
