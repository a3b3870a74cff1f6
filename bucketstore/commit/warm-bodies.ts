/**
 * Stored versions that the appends in the queue will ask for, read while they wait, so that
 * building does not wait for them one after another.
 *
 * A version is read once however many requests wait for it. Reading ahead never takes the last
 * places of the commit lane, which slots and their blobs need, and ends when nobody waits any more.
 */
import type { CallOptions } from '../../blob/index.ts';
import { abortable } from '../base/abortable.ts';
import { createLimit, type Limit } from '../base/limit.ts';
import type { BodySource } from '../snapshot/body-reader.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { VersionRecord } from '../snapshot/state.ts';
import type { Member } from './member.ts';

/** Who waits for a read. Knows nothing of its result, so a request that waits on holds no bytes. */
interface Hold {
  count: number;
  readonly end: AbortController;
}

interface Flight {
  readonly hold: Hold;
  readonly result: Promise<Uint8Array>;
  begun: boolean;
}

const NOBODY = 'nobody waits for it any more';

export class WarmBodies implements BodySource {
  readonly #below: BodySource;
  /** null: there is never a free place. */
  readonly #limit: Limit | null;
  readonly #flights = new Map<string, Flight>();

  /** @param atOnce how many versions may be read ahead at once; 0 for none */
  constructor(below: BodySource, atOnce: number) {
    this.#below = below;
    this.#limit = atOnce < 1 ? null : createLimit(atOnce);
  }

  /** Versions that are being read ahead, or wait for a place to be (I17). */
  get size(): number {
    return this.#flights.size;
  }

  /**
   * Begins to read what a request's appends will ask for. What fails is met again when the request
   * is judged. At most one `get` for each version, whoever else waits for it.
   */
  warm(state: Snapshot, request: Pick<Member, 'mutations' | 'onAnswered'>): void {
    if (this.#limit === null) return;
    for (const { kind, path } of request.mutations) {
      const record = kind === 'append' ? state.changedDetails(path)?.current : undefined;
      if (record === undefined) continue;
      const known = this.#flights.get(record.storedHash);
      const { hold } = known ?? this.#start(this.#limit, state, record);
      hold.count += 1;
      request.onAnswered(() => leave(hold));
    }
  }

  /** As the source below; shares a read of the same version that has begun. */
  async read(
    snapshot: Snapshot,
    record: VersionRecord,
    options: CallOptions = {},
  ): Promise<Uint8Array> {
    const flight = this.#flights.get(record.storedHash);
    // One that waits for its place would have the request wait behind all others.
    if (flight?.begun !== true) return this.#below.read(snapshot, record, options);
    const { hold, result } = flight;
    hold.count += 1;
    try {
      return await abortable(result, options.signal);
    } catch {
      options.signal?.throwIfAborted();
    } finally {
      leave(hold);
    }
    return this.#below.read(snapshot, record, options);
  }

  readUnverified(
    snapshot: Snapshot,
    record: VersionRecord,
    options?: CallOptions,
  ): Promise<Uint8Array> {
    return this.#below.readUnverified(snapshot, record, options);
  }

  #start(limit: Limit, state: Snapshot, record: VersionRecord): Flight {
    const { storedHash } = record;
    const hold: Hold = { count: 0, end: new AbortController() };
    const { signal } = hold.end;
    const begun = limit.hasRoom;
    const read = (): Promise<Uint8Array> => {
      flight.begun = true;
      return this.#below.read(state, record, { signal, lane: 'commit' });
    };
    const result = limit.run(read, { signal }).finally(() => this.#flights.delete(storedHash));
    result.catch(() => undefined);
    const flight: Flight = { hold, result, begun };
    this.#flights.set(storedHash, flight);
    return flight;
  }
}

function leave(hold: Hold): void {
  hold.count -= 1;
  if (hold.count === 0) hold.end.abort(NOBODY);
}
