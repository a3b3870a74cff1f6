/**
 * What the entries behind a checkpoint make of it: the last state of each document and the versions
 * made, for each stretch of the log that becomes part of a run. Pure, and fed in the order of the
 * log, so it is a function of the log and of the checkpoint below it (I4).
 */
import { assert } from '../bucketstore/base/assert.ts';
import type { Sequence } from '../bucketstore/base/sequence.ts';
import type { ArchiveEntry, MutationEntry, WriteEntry } from '../bucketstore/log/records.ts';
import type { BaseState } from '../bucketstore/snapshot/base.ts';
import type {
  DocumentHead,
  DocumentState,
  StoredAt,
  VersionRecord,
} from '../bucketstore/snapshot/state.ts';
import type { Interval } from './interval.ts';

/** A stretch that becomes part of a run: by path, the state at its end. */
export interface ChangedStates {
  readonly interval: Interval;
  readonly states: Map<string, DocumentState>;
}

/** A stretch that becomes part of a record run. */
export interface ChangedVersions {
  readonly interval: Interval;
  /** By path: the oldest version retained at its end, and the versions made, ascending. */
  readonly made: Map<string, { first: number; readonly records: VersionRecord[] }>;
}

export interface IntakeParts {
  /** The checkpoint below. */
  readonly base: BaseState;
  /** Of runs: contiguous, from the checkpoint on. */
  readonly runs: readonly Interval[];
  /** Of record runs: the same. */
  readonly records: readonly Interval[];
}

export class Intake {
  readonly runs: readonly ChangedStates[];
  readonly records: readonly ChangedVersions[];
  readonly #base: BaseState;
  readonly #known = new Map<string, DocumentState>();
  #created = 0;
  #pruned = 0;
  #run = 0;
  #record = 0;
  #last = 0;

  constructor({ base, runs, records }: IntakeParts) {
    this.#base = base;
    this.runs = runs.map((interval) => ({ interval, states: new Map() }));
    this.records = records.map((interval) => ({ interval, made: new Map() }));
  }

  /** Versions made so far. */
  get created(): number {
    return this.#created;
  }

  /** Versions that are retained no more since the checkpoint below. */
  get pruned(): number {
    return this.#pruned;
  }

  /**
   * Takes the next mutation in. One or two `get`s for an archive entry of a document that has not
   * changed since the checkpoint, none for any other.
   * @throws StoreError `INTEGRITY`, `UNAVAILABLE`, `LOCATION` of such a read
   */
  async add(entry: MutationEntry, at: Sequence): Promise<void> {
    assert(at > this.#last, () => `entry ${at} behind ${this.#last}`);
    this.#last = at;
    if (entry.kind === 'write') this.#write(entry, at);
    else await this.#archive(entry, at);
  }

  #write(entry: WriteEntry, at: Sequence): void {
    const { path, version, first, storedHash, bodyHash, modified, catalog } = entry;
    const before = this.#head(path);
    const stored: StoredAt = entry.at === 'slot' ? { seq: at } : entry.at;
    const current = { version, storedHash, bodyHash, modified, at: stored };
    this.#created += 1;
    if (before !== undefined) this.#pruned += first - before.first;
    this.#put({ path, current, first, archived: false, catalog }, at);
    const made = this.#recordsAt(at);
    const versions = made.get(path);
    if (versions === undefined) made.set(path, { first, records: [current] });
    else {
      versions.first = first;
      versions.records.push(current);
    }
  }

  async #archive({ path, archived }: ArchiveEntry, at: Sequence): Promise<void> {
    this.#put({ ...(await this.#state(path)), archived }, at);
  }

  #put(state: DocumentState, at: Sequence): void {
    this.#known.set(state.path, state);
    this.#statesAt(at).set(state.path, state);
  }

  #head(path: string): Pick<DocumentHead, 'first'> | undefined {
    return this.#known.get(path) ?? this.#base.head(path);
  }

  async #state(path: string): Promise<DocumentState> {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const head = this.#base.head(path);
    assert(head !== undefined, () => `${path} was archived, and is not there`);
    const { first, archived } = head;
    return { path, first, archived, ...(await this.#base.details(path, { lane: 'bulk' })) };
  }

  #statesAt(at: Sequence): Map<string, DocumentState> {
    while (at > (this.runs[this.#run]?.interval.through ?? at)) this.#run += 1;
    const run = this.runs[this.#run];
    assert(run !== undefined && at > run.interval.after, () => `entry ${at} is in no run`);
    return run.states;
  }

  #recordsAt(at: Sequence): ChangedVersions['made'] {
    while (at > (this.records[this.#record]?.interval.through ?? at)) this.#record += 1;
    const run = this.records[this.#record];
    assert(run !== undefined && at > run.interval.after, () => `entry ${at} is in no record run`);
    return run.made;
  }
}
