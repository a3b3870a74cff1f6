/** A world as one store sees it: one short method for each thing that can be asked of it. */
import type { CallOptions } from '../blob/index.ts';
import type { Background } from '../checkpoint/background.ts';
import type { Compacted, Compactor } from '../checkpoint/compactor.ts';
import { StoreError } from './base/errors.ts';
import { inTime, rest } from './base/in-time.ts';
import type { Random } from './base/random.ts';
import { type Sequence, sequence } from './base/sequence.ts';
import type { Committer } from './commit/committer.ts';
import {
  type AppendRequest,
  type ArchiveRequest,
  type Mutation,
  type MutationRequest,
  type PublishRequest,
  parseAppend,
  parseArchive,
  parseGroup,
  parsePublish,
} from './commit/mutation.ts';
import type { Operations } from './commit/operations.ts';
import { recall } from './commit/recall.ts';
import type { ArchiveResult, MutationResult, WriteResult } from './commit/result.ts';
import type { Opening } from './early.ts';
import { type LogEntry, readEntries } from './entries.ts';
import { isMutation } from './log/entry-rules.ts';
import { GROUP_ENTRIES_MAX } from './log/records.ts';
import type { Sightings } from './log/sightings.ts';
import { DEADLINE_MS_MAX, type Settings } from './options.ts';
import type { BodyReader } from './snapshot/body-reader.ts';
import type { Follower } from './snapshot/follower.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import { releasedError, View, type ViewParts } from './view.ts';
import { asWrite, operationId, type WriteOptions } from './write-options.ts';

export interface WorldParts extends ViewParts {
  readonly committer: Committer;
  readonly compactor: Compactor;
  /** null: nothing is compacted but by `compact`. */
  readonly background: Background | null;
  readonly operations: Operations;
  readonly follower: Follower;
  readonly sightings: Sightings;
  readonly bodies: BodyReader;
  readonly random: Random;
  readonly storeId: string;
  readonly settings: Settings;
  /** Releases what `openWorld` opened. */
  readonly release: () => Promise<void>;
}

export interface WorldStat {
  readonly worldId: string;
  readonly incarnationId: string;
  readonly storeId: string;
  readonly sequence: Sequence;
  readonly documents: number;
  readonly epoch: number;
  /** The lowest sequence that can be read. */
  readonly floor: number;
  readonly sealed: boolean;
}

export class World implements AsyncDisposable {
  /** null while it is being loaded. */
  #whole: WorldParts | null = null;
  /** null when it has been loaded. */
  #opening: Opening | null = null;

  constructor(parts: WorldParts | Opening) {
    if (!('loading' in parts)) {
      this.#whole = parts;
      return;
    }
    this.#opening = parts;
    const load = (whole: WorldParts): void => {
      this.#whole = whole;
      this.#opening = null;
    };
    parts.loading.then(load, () => undefined);
  }

  get #parts(): WorldParts {
    if (this.#whole === null) throw new TypeError('the world has not been loaded');
    return this.#whole;
  }

  get worldId(): string {
    return this.#opening?.worldId ?? this.#parts.follower.snapshot.identity.worldId;
  }

  /** The random ID of this store, in every slot it creates. */
  get storeId(): string {
    return (this.#opening ?? this.#parts).storeId;
  }

  /**
   * Resolves when all of the world is in memory: at once but for one that was opened `early`.
   * @throws StoreError what `openWorld` would have thrown without `early`; the signal's reason
   */
  async loaded(options: Pick<CallOptions, 'signal'> = {}): Promise<void> {
    await this.#ready(options);
  }

  /**
   * Makes a new version of a document. Answers when it is committed; one create for all requests of
   * a batch, plus one for each stored version above `inlineBytes`.
   * @throws StoreError `CONFLICT`, `ARCHIVED`, `PATH_COLLISION`, `QUOTA`, `READ_ONLY`,
   *   `SIZE_LIMIT`, `INVALID_*`, `POLICY_BLOCKED`, `APPROVAL_REQUIRED`, `OVERLOADED`, `CLOSED`,
   *   `UNAVAILABLE`,
   *   `LOCATION`, `INTEGRITY`: not committed; `UNKNOWN_OUTCOME`: see `operation`
   */
  async publish(request: PublishRequest, options: WriteOptions = {}): Promise<WriteResult> {
    return asWrite(await this.#one((op) => parsePublish(request, op), options));
  }

  /** Adds to a document's body and metadata. As `publish`; also `NOT_FOUND`. */
  async append(request: AppendRequest, options: WriteOptions = {}): Promise<WriteResult> {
    return asWrite(await this.#one((op) => parseAppend(request, op), options));
  }

  /** Archives a document or brings it back; makes no version. As `publish`; also `NOT_FOUND`. */
  async setArchived(request: ArchiveRequest, options: WriteOptions = {}): Promise<ArchiveResult> {
    return this.#one((op) => parseArchive(request, op), options);
  }

  /**
   * Commits up to 64 mutations in one slot, or none of them: the first that is refused refuses all.
   * @throws StoreError as `publish`; RangeError for an empty or larger group
   */
  async commit(
    requests: readonly MutationRequest[],
    options: WriteOptions = {},
  ): Promise<readonly MutationResult[]> {
    if (requests.length < 1 || requests.length > GROUP_ENTRIES_MAX) {
      throw new RangeError(
        `a group has 1 to ${GROUP_ENTRIES_MAX} mutations, got ${requests.length}`,
      );
    }
    return this.#submit((op) => parseGroup(requests, op), options);
  }

  /**
   * What became of an operation that was answered *unknown*.
   * @param after the sequence that the answer named
   * @returns the first answer, or null when it was not committed and never will be
   * @throws StoreError `TOO_OLD` below the floor; `UNKNOWN_OUTCOME` while its create may still land
   */
  async operation(
    op: string,
    after: number,
    options: CallOptions = {},
  ): Promise<readonly MutationResult[] | null> {
    await this.#atTip(options);
    const { follower, operations } = this.#parts;
    const known = operations.find(op);
    // Taken after the place is known, so that it holds the place.
    const snapshot = follower.snapshot;
    if (known !== undefined) return recall(this.#parts, snapshot, { ...known, op }, options);
    if (after + 1 < snapshot.control.floor.at) throw tooOld(snapshot);
    if (snapshot.tip.sequence <= after) {
      throw new StoreError(
        'UNKNOWN_OUTCOME',
        `nothing follows sequence ${after} yet, so its commit may still land; ask again later`,
        { details: { op, after } },
      );
    }
    const read = await follower.slotHolding(sequence(after + 1), options);
    if (read === null) throw tooOld(follower.snapshot);
    // The create named the slot behind `after`: where none begins, nothing can be said of it.
    if (read.slot.first !== after + 1) {
      throw new RangeError(`no slot follows ${after}; no answer has named it`);
    }
    const index = read.slot.entries.findIndex((entry) => isMutation(entry) && entry.op === op);
    if (index < 0) return null;
    const place = { op, slot: read.slot.first, sequence: sequence(read.slot.first + index) };
    return recall(this.#parts, snapshot, place, options);
  }

  /** The reads of one request. No request by itself. */
  view(): View {
    return new View(this.#opening ?? this.#parts);
  }

  /** What the world is now: one `head`. */
  async stat(options: CallOptions = {}): Promise<WorldStat> {
    const snapshot = await this.#atTip(options);
    const { identity, tip, control, documentCount } = snapshot;
    return {
      worldId: identity.worldId,
      incarnationId: identity.incarnationId,
      storeId: this.#parts.storeId,
      sequence: tip.sequence,
      documents: documentCount,
      epoch: control.epoch,
      floor: control.floor.at,
      sealed: control.seal !== null,
    };
  }

  /**
   * Makes checkpoints up to the tip of now, so that a store that opens the world replays less and
   * this one holds less in memory. One `create` for each new object, one `get` for each slot behind
   * the newest checkpoint and for each table that is merged, one `head` for each object named.
   * Safe beside any stores and compactors; waits for one under way here. With the setting `compact`
   * this happens by itself when it is worth it.
   * @throws StoreError `INTEGRITY` naming what is damaged; `READ_ONLY`, `UNAVAILABLE`, `LOCATION`;
   *   `CLOSED` when the world is closed meanwhile
   */
  async compact(options: Pick<CallOptions, 'signal'> = {}): Promise<Compacted> {
    await this.#ready(options);
    if (this.#parts.settings.readOnly) throw readOnlyError();
    if (this.#parts.isReleased()) throw releasedError();
    return this.#parts.compactor.compact(options);
  }

  /**
   * The entries of the log from a sequence on, up to the tip of now. One `get` for each slot, and
   * one list when the first lies before the checkpoint that this store loaded.
   * @throws StoreError `RESYNC` below the floor, naming the oldest and the newest sequence
   */
  async *entries(from: number, options: CallOptions = {}): AsyncGenerator<LogEntry> {
    const snapshot = await this.#atTip(options);
    yield* readEntries(this.#parts.follower, snapshot, from, options);
  }

  /**
   * Takes no further write, commits what waits, answers the rest, ends a load or a compaction that
   * is under way, and lets go of the bucket: reads are `CLOSED` from then on, but for a bucket that
   * was handed in, which stays open. Waits `drainMs` at most. Idempotent.
   */
  async close({ drainMs }: CloseOptions = {}): Promise<void> {
    if (this.#opening !== null) await this.#opening.stop();
    if (this.#whole === null) return;
    const { committer, background, compactor, release, settings } = this.#whole;
    const drained = committer.close(drainMs ?? settings.deadlineMs);
    await Promise.all([drained, background?.close(), compactor.close()]);
    await release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Looks no longer than the call's own time, whoever else waits for that look. */
  async #atTip(options: CallOptions): Promise<Snapshot> {
    const call = await this.#ready(options);
    const { clock, follower } = this.#parts;
    options.signal?.throwIfAborted();
    if (this.#parts.isReleased()) throw releasedError();
    return inTime(clock, follower.atTip(), call);
  }

  /** Waits until all is loaded. @returns the call, with what is left of its time */
  async #ready<O extends CallOptions>(options: O): Promise<O> {
    if (this.#opening === null) return options;
    const { clock, loading, isReleased } = this.#opening;
    if (isReleased()) throw releasedError();
    const began = clock.monotonic();
    await inTime(clock, loading, options);
    return rest(options, clock.monotonic() - began);
  }

  async #one(parse: (op: string) => Mutation, options: WriteOptions): Promise<MutationResult> {
    const [result] = await this.#submit((op) => [parse(op)], options);
    if (result !== undefined) return result;
    throw new TypeError('a mutation without a result');
  }

  /** @param parse the mutations, with the first one's operation */
  async #submit(
    parse: (op: string) => readonly Mutation[],
    asked: WriteOptions,
  ): Promise<readonly MutationResult[]> {
    const options = this.#opening === null ? asked : await this.#ready(asked);
    const { settings, committer } = this.#parts;
    if (settings.readOnly) throw readOnlyError();
    const op = operationId(options.op, this.#parts.random);
    committer.assertRoom(op);
    const mutations = parse(op);
    const { signal, deadlineMs = settings.deadlineMs } = options;
    if (!(deadlineMs >= 1 && deadlineMs <= DEADLINE_MS_MAX)) {
      throw new RangeError(`deadlineMs is 1 to ${DEADLINE_MS_MAX}, got ${deadlineMs}`);
    }
    return committer.submit(mutations, { signal, deadlineMs });
  }
}

export interface CloseOptions {
  /** How long to wait for a bucket that does not answer, ms. Default `deadlineMs`. */
  readonly drainMs?: number | undefined;
}

function readOnlyError(): StoreError {
  return new StoreError('READ_ONLY', 'not committed: this store was opened for reading only');
}

function tooOld({ control }: Snapshot): StoreError {
  return new StoreError('TOO_OLD', `the log is kept from ${control.floor.at} on`);
}
