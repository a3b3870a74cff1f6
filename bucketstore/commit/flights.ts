/**
 * Reads ahead of requests that wait, by name: each made once however many wait for it, so many at
 * once, and ended when nobody waits any more.
 */
import { abortable } from '../base/abortable.ts';
import type { Limit } from '../base/limit.ts';
import type { Member } from './member.ts';

/** Who waits for a read. Knows nothing of its result, so a request that waits on holds no bytes. */
interface Hold {
  count: number;
  readonly end: AbortController;
}

interface Flight<T> {
  readonly hold: Hold;
  readonly result: Promise<T>;
  begun: boolean;
}

const NOBODY = 'nobody waits for it any more';

export class Flights<T> {
  readonly #limit: Limit;
  readonly #flights = new Map<string, Flight<T>>();

  constructor(limit: Limit) {
    this.#limit = limit;
  }

  /** Reads under way, or waiting for a place (I17). */
  get size(): number {
    return this.#flights.size;
  }

  /**
   * Begins a read when there is a place, or joins it, until the request is answered.
   * @returns what it comes to; a failure is met again by whoever needs the answer
   */
  join(
    name: string,
    request: Pick<Member, 'onAnswered'>,
    read: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { hold, result } = this.#flights.get(name) ?? this.#start(name, read);
    hold.count += 1;
    request.onAnswered(() => leave(hold));
    return result;
  }

  /**
   * What a read under way comes to, for as long as the caller waits for it; undefined when none has
   * begun, or it fails. One that waits for its place would have the caller wait behind all others.
   * @throws the signal's reason when it aborts first
   */
  async begun(name: string, signal: AbortSignal | undefined): Promise<T | undefined> {
    const flight = this.#flights.get(name);
    if (flight?.begun !== true) return undefined;
    const { hold, result } = flight;
    hold.count += 1;
    try {
      return await abortable(result, signal);
    } catch {
      signal?.throwIfAborted();
      return undefined;
    } finally {
      leave(hold);
    }
  }

  #start(name: string, read: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const hold: Hold = { count: 0, end: new AbortController() };
    const { signal } = hold.end;
    const begun = this.#limit.hasRoom;
    const begin = (): Promise<T> => {
      flight.begun = true;
      return read(signal);
    };
    const result = this.#limit.run(begin, { signal }).finally(() => this.#flights.delete(name));
    result.catch(() => undefined);
    const flight: Flight<T> = { hold, result, begun };
    this.#flights.set(name, flight);
    return flight;
  }
}

function leave(hold: Hold): void {
  hold.count -= 1;
  if (hold.count === 0) hold.end.abort(NOBODY);
}
