/** Reading the log of a location: the next name, one slot, and every slot from a sequence on. */
import type { BlobStore, CallOptions, Lane } from '../../blob/index.ts';
import { integrityError } from '../base/errors.ts';
import { readAhead } from '../base/read-ahead.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { bucketFailure } from './failure.ts';
import { LOG_PREFIX, parseSlotKey, slotKey } from './names.ts';
import { SLOT_ENTRIES_MAX, type Slot } from './records.ts';
import type { Moment } from './sighting.ts';
import { decodeSlot } from './slot.ts';

/** A slot as read: its value, the hash of its bytes (what the next slot names), and the bytes. */
export interface ReadSlot {
  readonly slot: Slot;
  readonly hash: string;
  readonly bytes: Uint8Array;
}

/** An answer about a name. Whether it is believed is for the one who asked (`sightings.ts`). */
export interface NameAnswer {
  /** The service's own `Date` with it, ms. */
  readonly date: number | undefined;
}

/** That no slot begins at the name behind the last one taken. */
export interface Missing extends NameAnswer {
  /** The last sequence before that name. */
  readonly tip: Sequence;
  /** Before the request that found it missing. */
  readonly began: Moment;
}

export interface ReplayOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * List first, for a backlog; else read the next names one by one and list when there are many.
   */
  readonly backlog: boolean;
  /**
   * Asked of every answer about a name before anything is concluded from it. When it is not
   * believed, `next` has gone on beyond that name; throws to end the replay.
   * @param next the name that was the next one when it was asked for
   */
  readonly believe: (next: Sequence, date: number | undefined) => Promise<boolean>;
  /** The name that is the next one by now: slots may be taken by another way too. */
  readonly next: () => Sequence;
}

/** Slots fetched ahead of the one being applied. */
const READ_AHEAD = 16;
/** Slots read one by one before a list is worth its price. */
const SINGLE_READS = 2;
const LIST_LIMIT = 1000;
/** Sequence 1 is the genesis, which no slot holds. */
const FIRST_SLOT = 2;

export class Log {
  readonly #bucket: BlobStore;
  readonly #moment: () => Moment;

  /** @param moment reads the clocks */
  constructor(bucket: BlobStore, moment: () => Moment) {
    this.#bucket = bucket;
    this.#moment = moment;
  }

  /**
   * Whether a slot begins at a name: one `head`.
   * @throws StoreError `UNAVAILABLE` or `LOCATION`
   */
  async exists(
    first: Sequence,
    options: CallOptions,
  ): Promise<NameAnswer & { readonly found: boolean }> {
    try {
      const { found, date } = await this.#bucket.head(slotKey(first), options);
      return { found, date };
    } catch (error) {
      throw bucketFailure(error);
    }
  }

  /**
   * The slot that begins at a name, or null: one `get`.
   * @throws StoreError `INTEGRITY` when its bytes are no slot of that name
   */
  async read(
    first: Sequence,
    options: CallOptions,
  ): Promise<NameAnswer & { readonly read: ReadSlot | null }> {
    const key = slotKey(first);
    try {
      const found = await this.#bucket.get(key, options);
      const { date } = found;
      if (!found.found) return { read: null, date };
      return { read: { ...decodeSlot(key, found.bytes), bytes: found.bytes }, date };
    } catch (error) {
      throw bucketFailure(error);
    }
  }

  /**
   * Hands every slot from `next` on to `take`, in order, until a name is missing. `take` returns
   * the sequence after the slot. A name that a list lacks is read directly, so a hole in a list is
   * never taken for the end of the log; nor is one for a hole that has been passed meanwhile.
   * @throws StoreError `INTEGRITY` naming the missing slot when later ones are there; what
   * `believe` throws
   */
  async replay(
    next: Sequence,
    take: (read: ReadSlot) => Sequence,
    options: ReplayOptions,
  ): Promise<Missing> {
    let expected = next;
    for (let listFirst = options.backlog; ; listFirst = true) {
      if (listFirst) expected = await this.readListed(expected, take, options);
      const read = await this.#readSome(expected, take, options);
      if (typeof read !== 'number') return read;
      expected = read;
    }
  }

  /**
   * Reads the next name, and no further: one `get`.
   * @returns that it is missing, or the name to go on with
   */
  async readNext(
    next: Sequence,
    take: (read: ReadSlot) => Sequence,
    options: ReplayOptions,
  ): Promise<Missing | Sequence> {
    const { signal, backlog, believe, next: nextNow } = options;
    const began = this.#moment();
    const { read, date } = await this.read(next, { signal, lane: lane(backlog) });
    const believed = await believe(next, date);
    if (believed && read === null) return { tip: sequence(next - 1), began, date };
    return believed && read !== null ? take(read) : nextNow();
  }

  /** Reads the next names one by one. @returns the name to go on with, or that one is missing */
  async #readSome(
    next: Sequence,
    take: (read: ReadSlot) => Sequence,
    options: ReplayOptions,
  ): Promise<Missing | Sequence> {
    let expected = next;
    for (let reads = 0; reads < SINGLE_READS; reads++) {
      const read = await this.readNext(expected, take, options);
      if (typeof read !== 'number') return read;
      expected = read;
    }
    return expected;
  }

  /**
   * Lists once, and reads what is listed: who follows a log that grows as fast as it is read would
   * else never be done.
   * @returns the name behind the last slot taken
   * @throws StoreError as `replay`
   */
  async readListed(
    next: Sequence,
    take: (read: ReadSlot) => Sequence,
    options: ReplayOptions,
  ): Promise<Sequence> {
    const { signal } = options;
    let expected = next;
    const follow = async ({ read, date }: Awaited<ReturnType<Log['read']>>, later: Sequence) => {
      const asked = expected;
      const believed = await options.believe(asked, date);
      expected = options.next();
      if (!believed || expected > asked) return;
      if (read === null) throw hole(asked, later);
      expected = take(read);
    };
    for await (const names of this.names(next, signal)) {
      const read = (first: Sequence): ReturnType<Log['read']> => {
        return this.read(first, { signal, lane: 'bulk' });
      };
      const listed = readAhead(names, READ_AHEAD, async (name) => ({
        name,
        answer: settle(read(name)),
      }));
      for await (const { name, answer } of listed) {
        // A name inside the range already covered is a stray of a writer that slept: nobody reads
        // it.
        if (expected > name) continue;
        while (expected < name) await follow(await read(expected), name);
        if (expected === name) await follow(await answer(), name);
      }
    }
    return expected;
  }

  /**
   * Pages of slot names at or after `next`, ascending. Ends early when the list goes round in
   * circles.
   */
  async *names(next: Sequence, signal: AbortSignal | undefined): AsyncGenerator<Sequence[]> {
    let after = slotKey(sequence(next - 1));
    for (;;) {
      const page = await this.#list(after, signal);
      const keys = page.objects.map(({ key }) => key).filter((key) => key > after);
      keys.sort();
      const last = keys.at(-1);
      if (last === undefined) return;
      yield keys.map(nameOf);
      if (!page.more) return;
      after = last;
    }
  }

  /**
   * The highest slot name from which a slot can reach a sequence, or null for none: where the slot
   * that holds it begins, when nothing is missing. One list.
   */
  async firstOf(at: Sequence, { signal }: CallOptions): Promise<Sequence | null> {
    const from = sequence(Math.max(FIRST_SLOT, at - SLOT_ENTRIES_MAX + 1));
    for await (const names of this.names(from, signal)) {
      return names.filter((name) => name <= at).at(-1) ?? null;
    }
    return null;
  }

  async #list(after: string, signal: AbortSignal | undefined): ReturnType<BlobStore['list']> {
    try {
      const query = { prefix: LOG_PREFIX, after, limit: LIST_LIMIT };
      return await this.#bucket.list(query, { signal, lane: 'read' });
    } catch (error) {
      throw bucketFailure(error);
    }
  }
}

/** Work under way whose failure is met by the one who asks for its result, or by nobody. */
function settle<T>(work: Promise<T>): () => Promise<T> {
  work.catch(() => undefined);
  return () => work;
}

function lane(backlog: boolean): Lane {
  return backlog ? 'bulk' : 'read';
}

function nameOf(key: string): Sequence {
  const first = parseSlotKey(key);
  if (first === null) throw integrityError(key, 'is no slot name; nothing else belongs under log/');
  return first;
}

function hole(missing: Sequence, later: Sequence): Error {
  return integrityError(slotKey(missing), `missing, while ${slotKey(later)} is there`);
}
