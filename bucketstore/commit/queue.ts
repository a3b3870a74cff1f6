/** The requests of one world that wait for an answer, in order of arrival, bounded (I17). */
import { StoreError } from '../base/errors.ts';
import type { Member } from './member.ts';

export interface QueueBounds {
  readonly members: number;
  readonly bytes: number;
}

/**
 * A member stays until it is answered, also while its slot is being created: so a batch that loses its
 * name is simply at the head again.
 */
export class Queue {
  readonly #bounds: QueueBounds;
  readonly #members = new Set<Member>();
  #bytes = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#members.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Takes a member in, until it is answered.
   * @throws StoreError `OVERLOADED` when a bound would be passed: not committed
   */
  add(member: Member): void {
    const { members, bytes } = this.#bounds;
    if (this.#members.size >= members || this.#bytes + member.bytes > bytes) {
      throw new StoreError(
        'OVERLOADED',
        `not committed: ${this.#members.size} requests of ${this.#bytes} bytes wait already; try ` +
          'again later',
        { details: { retryAfterMs: 1000 } },
      );
    }
    if (member.answered.aborted) return;
    this.#members.add(member);
    this.#bytes += member.bytes;
    member.answered.addEventListener('abort', () => this.#remove(member), { once: true });
  }

  /** The first `limit` members, in order. */
  head(limit: number): Member[] {
    const head: Member[] = [];
    for (const member of this.#members) {
      if (head.length === limit) break;
      head.push(member);
    }
    return head;
  }

  /** Answers every member with an error. */
  failAll(error: unknown): void {
    for (const member of this.head(Number.POSITIVE_INFINITY)) member.fail(error);
  }

  #remove(member: Member): void {
    if (this.#members.delete(member)) this.#bytes -= member.bytes;
  }
}
