/** What a commit of the old store would add to a state: immutable objects, and the next head. */
import type { BlobStore } from '../../blob/blob.ts';
import { catalogOf } from './catalog.ts';
import type { Spelling } from './go-json.ts';
import { buildHistory, buildManifest } from './history.ts';
import {
  type JudgedWrite,
  judgeToggle,
  judgeWrite,
  type OldRequest,
  type Present,
} from './judge.ts';
import {
  blobKey,
  blockOf,
  byBytes,
  RECEIPTS_MAX,
  rootKey,
  sha256,
  shardKey,
  shardLabel,
} from './names.ts';
import type { OldObject } from './objects.ts';
import { readHistory, readManifest } from './read.ts';
import {
  encodeHead,
  encodeRoot,
  encodeShard,
  type OldChange,
  type OldEntry,
  type OldHead,
  type OldRange,
  type OldVersionRecord,
} from './records.ts';
import type { LoadedShard, OldSnapshot } from './snapshot.ts';
import { bodyHashOf, encodeStored, retentionOf } from './stored.ts';

/** A commit that is ready but for the head. */
export interface Candidate {
  /** What it builds on. */
  readonly base: OldSnapshot;
  /** In the order in which they are created. */
  readonly objects: readonly OldObject[];
  readonly head: OldHead;
  readonly headBytes: Uint8Array;
  readonly shards: readonly LoadedShard[];
  /** The version that is current then. */
  readonly version: number;
}

export interface CandidateOptions {
  readonly operationId: string;
  /** When it is committed. */
  readonly modified: string;
  readonly spelling: Spelling;
  /** Whether its receipt says what was committed. */
  readonly named: boolean;
}

/** An entry, and what it needs in the bucket. */
interface Edit {
  readonly entry: OldEntry;
  readonly objects: readonly OldObject[];
  readonly change: OldChange;
}

/**
 * Builds a commit on a state; null when there is nothing to change. Reads what the document has.
 * @throws OldStoreError when the request is refused: see `judgeWrite` and `judgeToggle`
 */
export async function buildCandidate(
  bucket: BlobStore,
  base: OldSnapshot,
  request: OldRequest,
  options: CandidateOptions,
): Promise<Candidate | null> {
  const edit = await editOf(bucket, base, request, options);
  return edit === null ? null : candidateOf(base, edit, options);
}

async function editOf(
  bucket: BlobStore,
  base: OldSnapshot,
  request: OldRequest,
  { modified }: CandidateOptions,
): Promise<Edit | null> {
  if ('content' in request) {
    const judged = await judgeWrite(bucket, base, request);
    return judged && writeEdit(bucket, judged, request.op, request.path, modified);
  }
  const found = judgeToggle(base, request);
  if (found === null) return null;
  const archived = request.op === 'archive';
  const { pathHash, current, path, bodyHash } = found;
  const { history } = await readManifest(bucket, found);
  const manifest = buildManifest({ pathHash, current, archived, history });
  const entry = { ...found, archived, manifestHash: manifest.hash };
  const op = archived ? 'archive' : 'publish';
  const change: OldChange = { path, op, agent: '', version: current, bodyHash };
  return { entry, objects: [manifest.object], change };
}

async function writeEdit(
  bucket: BlobStore,
  { present, body, metadata }: JudgedWrite,
  op: 'publish' | 'append',
  path: string,
  modified: string,
): Promise<Edit> {
  const pathHash = sha256(path);
  const version = (present?.entry.current ?? 0) + 1;
  const stored = encodeStored({ version, previous: present?.tip.hash ?? null, metadata, body });
  const blobHash = sha256(stored);
  const bodyHash = bodyHashOf(body);
  const record = { version, blobHash, bodyHash, modified };
  const kept = retentionOf(metadata.get('retention'));
  const { ranges, objects } = await extend(bucket, pathHash, present, record, kept);
  const shape = { pathHash, current: version, archived: false };
  const manifest = buildManifest({ ...shape, history: ranges });
  const catalog = catalogOf(path, modified, metadata, body);
  const blob = { key: blobKey(blobHash), bytes: stored };
  return {
    entry: {
      path,
      pathHash,
      manifestHash: manifest.hash,
      current: version,
      archived: false,
      bodyHash,
      modified,
      catalog,
    },
    objects: [blob, ...objects, manifest.object],
    change: { path, op, agent: metadata.get('agent') ?? '', version, bodyHash },
  };
}

/** A history with one version more: only its last block is new, and its first when it is cut. */
async function extend(
  bucket: BlobStore,
  pathHash: string,
  present: Present | null,
  record: OldVersionRecord,
  kept: number | null,
): Promise<{ readonly ranges: readonly OldRange[]; readonly objects: readonly OldObject[] }> {
  const { version } = record;
  const first = kept === null ? 1 : version - kept + 1;
  const sameBlock = present !== null && blockOf(present.entry.current) === blockOf(version);
  const held = sameBlock ? present.block.entries : [];
  const whole = (present?.manifest.history ?? []).slice(0, sameBlock ? -1 : undefined);
  const ranges: OldRange[] = [];
  const objects: OldObject[] = [];
  for (const range of whole) {
    if (range.last < first) continue;
    if (range.first >= first || present === null) {
      ranges.push(range);
      continue;
    }
    const { entries } = await readHistory(bucket, present.entry, range);
    const cut = buildHistory(pathHash, entries.slice(first - range.first));
    ranges.push(...cut.ranges);
    objects.push(...cut.objects);
  }
  const last = [...held, record].filter((one) => one.version >= first);
  const built = buildHistory(pathHash, last);
  return { ranges: [...ranges, ...built.ranges], objects: [...objects, ...built.objects] };
}

function candidateOf(base: OldSnapshot, edit: Edit, options: CandidateOptions): Candidate {
  const { operationId, spelling, named } = options;
  const { entry, change } = edit;
  const { shard: before } = base.shardFor(entry.path);
  const others = before.entries.filter(({ path }) => path !== entry.path);
  const entries = [...others, entry].sort((a, b) => byBytes(a.path, b.path));
  const shard = { index: before.index, entries };
  const shardBytes = encodeShard(shard, spelling);
  const hash = sha256(shardBytes);
  const shards = base.shards.with(shard.index, { hash, shard });
  const { worldId, sequence: last, receipts: told } = base.head;
  const documents = base.documentCount - before.entries.length + entries.length;
  const rootBytes = encodeRoot({ worldId, documents, shards: shards.map((one) => one.hash) });
  const rootHash = sha256(rootBytes);
  const sequence = last + 1;
  const receipt = { operationId, sequence, change: named ? change : null };
  const receipts = [...told, receipt].slice(-RECEIPTS_MAX);
  const head = { worldId, sequence, rootHash, receipts };
  return {
    base,
    objects: [
      ...edit.objects,
      { key: shardKey(shardLabel(shard.index), hash), bytes: shardBytes },
      { key: rootKey(rootHash), bytes: rootBytes },
    ],
    head,
    headBytes: encodeHead(head, spelling),
    shards,
    version: entry.current,
  };
}
