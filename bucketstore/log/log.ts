/** Reading the log of a location: the next name, one slot, and every slot from a sequence on. */
import type { BlobStore, CallOptions, Lane } from '../../blob/index.ts';
import type { Clock } from '../base/clock.ts';
import { integrityError } from '../base/errors.ts';
import { readAhead } from '../base/read-ahead.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { bucketFailure } from './failure.ts';
import { LOG_PREFIX, parseSlotKey, slotKey } from './names.ts';
import type { Slot } from './records.ts';
import { decodeSlot } from './slot.ts';

/** A slot as read: its value, the hash of its bytes (what the next slot names), and the bytes. */
export interface ReadSlot {
  readonly slot: Slot;
  readonly hash: string;
  readonly bytes: Uint8Array;
}

/** That no slot began at the next name; `at` is the monotonic time before the look began, ms. */
export interface Confirmation {
  readonly at: number;
}

export interface ReplayOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * List first, for a backlog; else read the next names one by one and list when there are many.
   */
  readonly backlog: boolean;
}

/** Slots fetched ahead of the one being applied. */
const READ_AHEAD = 16;
/** Slots read one by one before a list is worth its price. */
const SINGLE_READS = 2;
const LIST_LIMIT = 1000;

export class Log {
  readonly #bucket: BlobStore;
  readonly #clock: Clock;

  constructor(bucket: BlobStore, clock: Clock) {
    this.#bucket = bucket;
    this.#clock = clock;
  }

  /**
   * Whether a slot begins at a name: one `head`.
   * @throws StoreError `UNAVAILABLE` or `LOCATION`
   */
  async exists(first: Sequence, options: CallOptions): Promise<boolean> {
    try {
      return (await this.#bucket.head(slotKey(first), options)).found;
    } catch (error) {
      throw bucketFailure(error);
    }
  }

  /**
   * The slot that begins at a name, or null: one `get`.
   * @throws StoreError `INTEGRITY` when its bytes are no slot of that name
   */
  async read(first: Sequence, options: CallOptions): Promise<ReadSlot | null> {
    const key = slotKey(first);
    try {
      const found = await this.#bucket.get(key, options);
      return found.found ? { ...decodeSlot(key, found.bytes), bytes: found.bytes } : null;
    } catch (error) {
      throw bucketFailure(error);
    }
  }

  /**
   * Hands every slot from `next` on to `take`, in order, until a name is missing, and says when it
   * was found missing. `take` returns the sequence after the slot. A name that a list lacks is read
   * directly, so a hole in a list is never taken for the end of the log.
   * @throws StoreError `INTEGRITY` naming the missing slot when later ones are there
   */
  async replay(
    next: Sequence,
    take: (read: ReadSlot) => Sequence,
    { signal, backlog }: ReplayOptions,
  ): Promise<Confirmation> {
    let expected = next;
    for (let listFirst = backlog; ; listFirst = true) {
      if (listFirst) expected = await this.#replayListed(expected, take, signal);
      for (let reads = 0; reads < SINGLE_READS; reads++) {
        const at = this.#clock.monotonic();
        const read = await this.read(expected, { signal, lane: lane(backlog) });
        if (read === null) return { at };
        expected = take(read);
      }
    }
  }

  async #replayListed(
    next: Sequence,
    take: (read: ReadSlot) => Sequence,
    signal: AbortSignal | undefined,
  ): Promise<Sequence> {
    let expected = next;
    for await (const names of this.#listed(next, signal)) {
      const read = (first: Sequence): Promise<ReadSlot | null> => {
        return this.read(first, { signal, lane: 'bulk' });
      };
      // A name inside the range already covered is a stray of a writer that slept: nobody reads it.
      const listed = readAhead(names, READ_AHEAD, async (name) => ({
        name,
        slot: settle(read(name)),
      }));
      for await (const { name, slot } of listed) {
        if (expected > name) continue;
        for (let missing = expected; missing < name; missing = expected) {
          const missed = await read(missing);
          if (missed === null) throw hole(missing, name);
          expected = take(missed);
        }
        if (expected > name) continue;
        const found = await slot();
        if (found === null) throw hole(expected, name);
        expected = take(found);
      }
    }
    return expected;
  }

  /**
   * Pages of slot names at or after `next`, ascending. Ends early when the list goes round in
   * circles.
   */
  async *#listed(next: Sequence, signal: AbortSignal | undefined): AsyncGenerator<Sequence[]> {
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
