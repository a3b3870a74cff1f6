/**
 * A replica of the old store, as they still run beside a migration: it opens a location strictly,
 * commits by replacing the head at the generation that it read, and refuses whatever is not of its
 * own format.
 *
 *     const replica = await OldReplica.open(bucket, { worldId, timing, chance });
 *     await replica.publish('/a.md', '# A\n');
 */
import type { BlobStore, Chance, Timing } from '../../blob/blob.ts';
import { isBlobError } from '../../blob/errors.ts';
import { buildCandidate, type Candidate } from './candidate.ts';
import { decodeChangeBlock } from './decode.ts';
import type { OldDocument } from './document.ts';
import { demand, OldStoreError } from './error.ts';
import type { Spelling } from './go-json.ts';
import type { OldRequest } from './judge.ts';
import { CHANGE_BLOCK, changeKey, HEAD_KEY, RECEIPTS_MAX, timestamp } from './names.ts';
import { createSame } from './objects.ts';
import { readDocument } from './read.ts';
import { encodeChangeBlock } from './records.ts';
import { loadSnapshot, OldSnapshot } from './snapshot.ts';
import type { OldMetadata } from './stored.ts';

export interface OldReplicaOptions {
  readonly worldId: string;
  readonly timing: Timing;
  /** Gives operations their IDs. */
  readonly chance: Chance;
  /** How it spells U+0008 and U+000C. Default `short`. */
  readonly spelling?: Spelling;
  /** Whether its receipts say what was committed. Default true. */
  readonly named?: boolean;
  /** Whether it keeps complete blocks of receipts. Default false. */
  readonly keepsChanges?: boolean;
}

export interface WriteOptions {
  readonly metadata?: OldMetadata;
  /** The version that must be current; 0 for none. Default any. */
  readonly expected?: number;
}

/** `sequence` is null when there was nothing to change. */
export interface OldResult {
  readonly sequence: number | null;
  readonly version: number;
}

/** At least so long between two attempts at the head. */
export const PACE_MS = 1500;
export const ATTEMPTS_MAX = 12;

export class OldReplica {
  readonly #bucket: BlobStore;
  readonly #options: OldReplicaOptions;
  #snapshot: OldSnapshot;
  #attemptedMs: number | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(bucket: BlobStore, options: OldReplicaOptions, snapshot: OldSnapshot) {
    this.#bucket = bucket;
    this.#options = options;
    this.#snapshot = snapshot;
  }

  /**
   * Opens a world. Two requests, and one for each shard.
   * @throws OldStoreError `not-found`, `precondition` (another world) or `integrity`
   */
  static async open(bucket: BlobStore, options: OldReplicaOptions): Promise<OldReplica> {
    return new OldReplica(bucket, options, await loadSnapshot(bucket, options.worldId, null));
  }

  /** What it saw last. */
  get snapshot(): OldSnapshot {
    return this.#snapshot;
  }

  /** Looks again. @throws OldStoreError `integrity` once the head is of another schema */
  async refresh(): Promise<OldSnapshot> {
    this.#snapshot = await loadSnapshot(this.#bucket, this.#options.worldId, this.#snapshot);
    return this.#snapshot;
  }

  publish(path: string, body: string, options: WriteOptions = {}): Promise<OldResult> {
    const { metadata = new Map(), expected = -1 } = options;
    return this.#commit({ op: 'publish', path, content: Buffer.from(body), metadata, expected });
  }

  /** @param expected the version that must be current, from 1 */
  append(
    path: string,
    content: string,
    expected: number,
    metadata: OldMetadata = new Map(),
  ): Promise<OldResult> {
    return this.#commit({ op: 'append', path, content: Buffer.from(content), metadata, expected });
  }

  archive(path: string): Promise<OldResult> {
    return this.#commit({ op: 'archive', path });
  }

  unarchive(path: string): Promise<OldResult> {
    return this.#commit({ op: 'unarchive', path });
  }

  /** A document with all retained versions; null when there is none. Looks first. */
  async document(path: string): Promise<OldDocument | null> {
    const entry = (await this.refresh()).find(path);
    return entry === null ? null : readDocument(this.#bucket, entry);
  }

  /** Every document of the state that was seen last, read and checked to the last byte. */
  async *documents(): AsyncIterable<OldDocument> {
    for (const entry of this.#snapshot.entries()) yield readDocument(this.#bucket, entry);
  }

  /** One after the other: a replica has one commit under way. */
  #commit(request: OldRequest): Promise<OldResult> {
    const commit = this.#turn.then(() => this.#attempt(request));
    this.#turn = commit.catch(() => undefined);
    return commit;
  }

  async #attempt(request: OldRequest): Promise<OldResult> {
    const { timing, chance, spelling = 'short', named = true } = this.#options;
    const operationId = chance.uuid();
    let unsure: Candidate | null = null;
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const base = await this.refresh();
      if (unsure !== null) {
        const sequence = base.sequenceOf(operationId);
        if (sequence !== null) return { sequence, version: unsure.version };
        if (base.generation !== unsure.base.generation) {
          checkLost(base, unsure);
          unsure = null;
        }
      }
      const modified = timestamp(timing.now());
      const made = { operationId, modified, spelling, named };
      const candidate: Candidate | null =
        unsure ?? (await buildCandidate(this.#bucket, base, request, made));
      if (candidate === null) {
        return { sequence: null, version: base.find(request.path)?.current ?? 0 };
      }
      if (unsure === null) {
        for (const object of candidate.objects) await createSame(this.#bucket, object);
      }
      const outcome = await this.#replaceHead(candidate);
      if (outcome === 'replaced') {
        await this.#keepChanges();
        return { sequence: candidate.head.sequence, version: candidate.version };
      }
      if (outcome === 'unsure') unsure = candidate;
    }
    throw new OldStoreError('exhausted', request.path, `lost ${ATTEMPTS_MAX} attempts`);
  }

  async #replaceHead(candidate: Candidate): Promise<'replaced' | 'changed' | 'unsure'> {
    const { timing } = this.#options;
    const { base, head, headBytes, shards } = candidate;
    if (this.#attemptedMs !== null) {
      const waitMs = this.#attemptedMs + PACE_MS - timing.monotonic();
      if (waitMs > 0) await timing.sleep(waitMs);
    }
    this.#attemptedMs = timing.monotonic();
    try {
      const replaced = await this.#bucket.replace(HEAD_KEY, base.generation, headBytes);
      if (replaced.outcome === 'changed') return 'changed';
      const generation = replaced.attributes?.generation;
      // Without attributes the next look reads the head again.
      if (generation !== undefined) this.#snapshot = new OldSnapshot(head, generation, shards);
      return 'replaced';
    } catch (error) {
      if (isBlobError(error) && (error.ambiguous || error.retryable)) return 'unsure';
      throw error;
    }
  }

  /**
   * Keeps the complete blocks of receipts that the window holds. What fails is tried again with the
   * commits to come, until the window has moved on; then the block is missing for good.
   */
  async #keepChanges(): Promise<void> {
    if (this.#options.keepsChanges !== true) return;
    const { worldId, receipts, sequence } = this.#snapshot.head;
    const oldest = Math.max(Math.floor((sequence - RECEIPTS_MAX) / CHANGE_BLOCK), 0);
    for (let block = oldest; (block + 1) * CHANGE_BLOCK <= sequence; block++) {
      const first = Math.max(block * CHANGE_BLOCK + 1, 2);
      const last = (block + 1) * CHANGE_BLOCK;
      const told = receipts.filter((one) => one.sequence >= first && one.sequence <= last);
      if (told.length !== last - first + 1) continue;
      const bytes = encodeChangeBlock({ worldId, first, receipts: told }, this.#options.spelling);
      const key = changeKey(block);
      decodeChangeBlock(block, key, bytes);
      try {
        await createSame(this.#bucket, { key, bytes });
      } catch (error) {
        if (!isBlobError(error)) throw error;
      }
    }
  }
}

/** The head has moved on without the operation. Whether it ever took effect must be known. */
function checkLost(base: OldSnapshot, { head }: Candidate): void {
  const { sequence } = base.head;
  demand(sequence >= head.sequence, HEAD_KEY, `is at ${sequence}, behind ${head.sequence}`);
  if (head.sequence > sequence - RECEIPTS_MAX) return;
  const problem = `sequence ${head.sequence} has left the window; it may have been committed`;
  throw new OldStoreError('evicted', HEAD_KEY, problem);
}
