/** Objects of the old store from decoded JSON, with what must hold within each of them. */
import { checkCatalog, type OldCatalog } from './catalog.ts';
import { demand } from './error.ts';
import type { Fields } from './fields.ts';
import {
  blobKey,
  blockOf,
  byBytes,
  checkBodyHash,
  checkDocumentPath,
  checkHash,
  checkTimestamp,
  checkUuid,
  DOCUMENTS_MAX,
  historyKey,
  manifestKey,
  RECEIPTS_MAX,
  rootKey,
  SHARDS,
  sha256,
  shardKey,
  shardLabel,
  shardOf,
  VERSION_MAX,
} from './names.ts';
import type {
  OldBlock,
  OldChange,
  OldChangeBlock,
  OldEntry,
  OldHead,
  OldManifest,
  OldReceipt,
  OldRoot,
  OldShard,
  OldVersionRecord,
} from './records.ts';

/** A head: its window of receipts is full and ends at its sequence. */
export function readHead(fields: Fields): OldHead {
  const { object } = fields;
  fields.integer('schema', 1, 1);
  const sequence = fields.integer('sequence', 1);
  const receipts = fields.each('receipts', readReceipt);
  const count = Math.min(sequence - 1, RECEIPTS_MAX);
  checkReceipts(object, receipts, sequence - count + 1, count);
  const worldId = checkUuid(object, fields.string('world_id'));
  return { worldId, sequence, rootHash: readReference(fields.fields('root'), rootKey), receipts };
}

/** Refuses receipts that are not `count` in a row from `first`, each of another operation. */
export function checkReceipts(
  key: string,
  receipts: readonly OldReceipt[],
  first: number,
  count: number,
): void {
  demand(receipts.length === count, key, `has ${receipts.length} receipts, not ${count}`);
  const consecutive = receipts.every(({ sequence }, index) => sequence === first + index);
  demand(consecutive, key, `has receipts that do not count from ${first}`);
  const operations = new Set(receipts.map(({ operationId }) => operationId));
  demand(operations.size === receipts.length, key, 'has an operation twice');
}

function readReceipt(fields: Fields): OldReceipt {
  const { object } = fields;
  const operationId = checkUuid(object, fields.string('operation_id'));
  const sequence = fields.integer('sequence', 2);
  demand(fields.string('result') === 'committed', object, 'has another result');
  const named = ['path', 'op', 'version', 'hash'].filter((name) => fields.has(name));
  if (named.length === 0) {
    demand(!fields.has('agent'), object, `receipt ${sequence} names nothing but an agent`);
    return { operationId, sequence, change: null };
  }
  demand(named.length === 4, object, `receipt ${sequence} names only ${named.join(' and ')}`);
  return { operationId, sequence, change: readChange(fields) };
}

function readChange(fields: Fields): OldChange {
  const { object } = fields;
  const op = fields.string('op');
  demand(op === 'publish' || op === 'append' || op === 'archive', object, `op ${op}`);
  return {
    path: checkDocumentPath(object, fields.string('path')),
    op,
    agent: fields.has('agent') ? fields.string('agent') : '',
    version: fields.integer('version', 1, VERSION_MAX),
    bodyHash: checkBodyHash(object, fields.string('hash')),
  };
}

/** A root: 256 shards in order. */
export function readRoot(fields: Fields): OldRoot {
  const { object } = fields;
  fields.integer('schema', 1, 1);
  const labels: string[] = [];
  const shards = fields.each('shards', (shard) => {
    const label = shard.string('shard');
    labels.push(label);
    return readReference(shard, (hash) => shardKey(label, hash));
  });
  const ordered = labels.every((label, index) => label === shardLabel(index));
  demand(shards.length === SHARDS && ordered, object, 'does not name 256 shards in order');
  return {
    worldId: checkUuid(object, fields.string('world_id')),
    documents: fields.integer('document_count', 0, DOCUMENTS_MAX),
    shards,
  };
}

/** A shard: its entries ascend, are its own and agree with themselves. */
export function readShard(fields: Fields): OldShard {
  const { object } = fields;
  fields.integer('schema', 1, 1);
  const label = fields.string('shard');
  demand(/^[0-9a-f]{2}$/.test(label), object, `has the label ${label}`);
  const index = Number.parseInt(label, 16);
  let before: string | null = null;
  const entries = fields.each('entries', (entry) => {
    const read = readEntry(entry);
    demand(shardOf(read.pathHash) === index, object, `${read.path} is of another shard`);
    const ascends = before === null || byBytes(before, read.path) < 0;
    demand(ascends, object, `${read.path} is out of order`);
    before = read.path;
    return read;
  });
  return { index, entries };
}

function readEntry(fields: Fields): OldEntry {
  const { object } = fields;
  const path = checkDocumentPath(object, fields.string('path'));
  const pathHash = fields.string('path_hash');
  demand(pathHash === sha256(path), object, `path hash of ${path}`);
  const modified = checkTimestamp(object, fields.string('modified'));
  const catalog = readCatalog(fields.fields('catalog'));
  demand(catalog.path === path && catalog.modified === modified, object, `record of ${path}`);
  return {
    path,
    pathHash,
    manifestHash: readReference(fields.fields('manifest'), (hash) => manifestKey(pathHash, hash)),
    current: fields.integer('current', 1, VERSION_MAX),
    archived: fields.boolean('archived'),
    bodyHash: checkBodyHash(object, fields.string('body_hash')),
    modified,
    catalog,
  };
}

function readCatalog(fields: Fields): OldCatalog {
  const catalog = {
    path: fields.string('path'),
    title: fields.string('title'),
    tags: fields.strings('tags'),
    importance: fields.string('importance'),
    modified: fields.string('modified'),
    metadata: fields.stringMap('metadata'),
  };
  checkCatalog(`${fields.object}, ${catalog.path}`, catalog);
  return catalog;
}

/** A manifest: ranges without a gap, each within its block, up to the current version. */
export function readManifest(fields: Fields): OldManifest {
  const { object } = fields;
  fields.integer('schema', 1, 1);
  const pathHash = checkHash(object, fields.string('path_hash'));
  const current = fields.integer('current', 1, VERSION_MAX);
  const history = fields.each('history', (range) => {
    demand(range.string('path_hash') === pathHash, object, 'refers to another document');
    const first = range.integer('first', 1, VERSION_MAX);
    const last = range.integer('last', first, VERSION_MAX);
    demand(blockOf(first) === blockOf(last), object, `${first} to ${last} cross a block`);
    return { first, last, hash: readReference(range, historyKey) };
  });
  demand(history.at(-1)?.last === current, object, 'does not end at the current version');
  for (const [index, { first }] of history.entries()) {
    const before = history[index - 1];
    const follows = before === undefined || before.last + 1 === first;
    demand(follows, object, `has a gap before version ${first}`);
    const whole = before === undefined || blockOf(before.first) + 1 === blockOf(first);
    demand(whole, object, `has two ranges in the block of version ${first}`);
  }
  return { pathHash, current, archived: fields.boolean('archived'), history };
}

/** A history block: every version that it says it holds. */
export function readBlock(fields: Fields): OldBlock {
  const { object } = fields;
  fields.integer('schema', 1, 1);
  const first = fields.integer('first', 1, VERSION_MAX);
  const last = fields.integer('last', first, VERSION_MAX);
  const entries = fields.each('entries', readVersion);
  const consecutive = entries.every(({ version }, index) => version === first + index);
  const complete = entries.length === last - first + 1 && consecutive;
  demand(complete, object, `does not hold all of ${first} to ${last}`);
  return { pathHash: checkHash(object, fields.string('path_hash')), first, last, entries };
}

function readVersion(fields: Fields): OldVersionRecord {
  const { object } = fields;
  return {
    version: fields.integer('version', 1, VERSION_MAX),
    blobHash: readReference(fields.fields('blob'), blobKey),
    bodyHash: checkBodyHash(object, fields.string('body_hash')),
    modified: checkTimestamp(object, fields.string('modified')),
  };
}

/** A change block; which receipts it must have is for the caller to check. */
export function readChangeBlock(fields: Fields): OldChangeBlock {
  const { object } = fields;
  fields.integer('schema', 1, 1);
  const worldId = checkUuid(object, fields.string('world_id'));
  const first = fields.integer('first', 2);
  return { worldId, first, receipts: fields.each('receipts', readReceipt) };
}

/** The hash of a reference, whose key must be the one that the hash gives. */
function readReference(fields: Fields, keyOf: (hash: string) => string): string {
  const hash = checkHash(fields.object, fields.string('hash'));
  demand(fields.string('key') === keyOf(hash), fields.object, `reference to ${hash}`);
  return hash;
}
