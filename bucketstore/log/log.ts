/** Reading the log of a location: the next name, one slot, and every slot from a sequence on. */
import type { BlobStore, CallOptions, Lane } from '../../blob/index.ts';
import { integrityError } from '../base/errors.ts';
import { readAhead } from '../base/read-ahead.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { bucketFailure } from './failure.ts';
import { LOG_PREFIX, parseSlotKey, slotKey } from './names.ts';
import type { Slot } from './records.ts';
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
   * Asked of every answer about a name before anything is concluded from it; throws to end the
   * replay.
   * @param next the name that the slots taken so far make the next one
   */
  readonly believe: (next: Sequence, date: number | undefined) => Promise<void>;
}

/** Slots fetched ahead of the one being applied. */
const READ_AHEAD = 16;
/** Slots read one by one before a list is worth its price. */
const SINGLE_READS = 2;
const LIST_LIMIT = 1000;

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
   * never taken for the end of the log.
   * @throws StoreError `INTEGRITY` naming the missing slot when later ones are there; what
   * `believe`
   *   throws
   */
  async replay(
    next: Sequence,
    take: (read: ReadSlot) => Sequence,
    options: ReplayOptions,
  ): Promise<Missing> {
    const { signal, backlog } = options;
    let expected = next;
    for (let listFirst = backlog; ; listFirst = true) {
      if (listFirst) expected = await this.#replayListed(expected, take, options);
      for (let reads = 0; reads < SINGLE_READS; reads++) {
        const began = this.#moment();
        const { read, date } = await this.read(expected, { signal, lane: lane(backlog) });
        await options.believe(expected, date);
        if (read === null) return { tip: sequence(expected - 1), began, date };
        expected = take(read);
      }
    }
  }

  async #replayListed(
    next: Sequence,
    take: (read: ReadSlot) => Sequence,
    { signal, believe }: ReplayOptions,
  ): Promise<Sequence> {
    let expected = next;
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
        for (let missing = expected; missing < name; missing = expected) {
          const missed = await read(missing);
          await believe(expected, missed.date);
          if (missed.read === null) throw hole(missing, name);
          expected = take(missed.read);
        }
        if (expected > name) continue;
        const found = await answer();
        await believe(expected, found.date);
        if (found.read === null) throw hole(expected, name);
        expected = take(found.read);
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
