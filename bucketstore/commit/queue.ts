/** The requests of one world that wait for an answer, in order of arrival, bounded (I17). */
import { StoreError } from '../base/errors.ts';
import { type Control, Member } from './member.ts';

export interface QueueBounds {
  readonly members: number;
  readonly bytes: number;
}

/** What waits: a member of a batch, or a control entry, which is a batch by itself. */
export type Queued = Member | Control;

/**
 * A request stays until it is answered, also while its slot is being created. What has been taken
 * for a batch is passed over, until `rewind` gives everything back in the order of arrival: so what
 * loses its name is simply next again.
 */
export class Queue {
  readonly #bounds: QueueBounds;
  readonly #queued = new Set<Queued>();
  readonly #byOp = new Map<string, Queued>();
  readonly #taken = new Set<Queued>();
  /** Goes over what is queued; what is added behind it comes in its turn. */
  #cursor: Iterator<Queued> | null = null;
  #next: Queued | undefined;
  #bytes = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#queued.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Requests that have been taken and are not answered. */
  get taken(): number {
    return this.#taken.size;
  }

  /**
   * Takes a request in, until it is answered.
   * @throws StoreError `OVERLOADED` when a bound would be passed: not committed
   */
  add(request: Queued): void {
    this.assertRoom(request.bytes);
    this.#queued.add(request);
    this.#byOp.set(request.op, request);
    this.#bytes += request.bytes;
    request.onAnswered(() => this.#remove(request));
  }

  /**
   * That a request of so many bytes would be taken in: asked before one is made, so that a store
   * with more to do than it can refuses at the least price.
   * @throws StoreError `OVERLOADED`, as `add`
   */
  assertRoom(requestBytes: number): void {
    const { members, bytes } = this.#bounds;
    // One request alone always has room, however large it may legally be.
    const full = this.#queued.size > 0 && this.#bytes + requestBytes > bytes;
    if (this.#queued.size < members && !full) return;
    throw new StoreError(
      'OVERLOADED',
      `not committed: ${this.#queued.size} requests of ${this.#bytes} bytes wait already; try ` +
        'again later',
      { details: { retryAfterMs: 1000 } },
    );
  }

  /** The member that waits with an operation: it and a request sent again are one. */
  find(op: string): Member | undefined {
    const queued = this.#byOp.get(op);
    return queued instanceof Member ? queued : undefined;
  }

  /** The first request that has not been taken, and whose answer is not being read back. */
  next(): Queued | undefined {
    for (let started = false; ; ) {
      const candidate = this.#next;
      if (candidate !== undefined && this.#isFree(candidate)) return candidate;
      if (this.#cursor === null) {
        if (started) return undefined;
        started = true;
        this.#cursor = this.#queued.values();
      }
      const { value, done } = this.#cursor.next();
      this.#next = value;
      if (done === true) this.#cursor = null;
    }
  }

  /** Takes the next request for a batch. */
  take(request: Queued): void {
    this.#taken.add(request);
    if (this.#next === request) this.#next = undefined;
  }

  /** Gives back one that was taken last. */
  giveBack(request: Queued): void {
    if (this.#taken.delete(request)) this.#next = request;
  }

  /** Gives back what was taken and is not answered. */
  rewind(): void {
    this.#taken.clear();
    this.#cursor = null;
    this.#next = undefined;
  }

  /** Answers every request with an error. */
  failAll(error: unknown): void {
    for (const request of [...this.#queued]) request.fail(error);
  }

  #isFree(request: Queued): boolean {
    if (!this.#queued.has(request) || this.#taken.has(request)) return false;
    return !(request instanceof Member && request.recalling);
  }

  #remove(request: Queued): void {
    if (!this.#queued.delete(request)) return;
    this.#taken.delete(request);
    this.#byOp.delete(request.op);
    this.#bytes -= request.bytes;
  }
}
