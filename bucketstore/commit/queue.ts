/** The requests of one world that wait for an answer, in order of arrival, bounded (I17). */
import { StoreError } from '../base/errors.ts';
import type { Member } from './member.ts';

export interface QueueBounds {
  readonly members: number;
  readonly bytes: number;
}

/**
 * A member stays until it is answered, also while its slot is being created: so a batch that loses
 * its name is simply at the head again.
 */
export class Queue {
  readonly #bounds: QueueBounds;
  readonly #members = new Set<Member>();
  readonly #byOp = new Map<string, Member>();
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
    // One request alone always has room, however large it may legally be.
    const full = this.#members.size > 0 && this.#bytes + member.bytes > bytes;
    if (this.#members.size >= members || full) {
      throw new StoreError(
        'OVERLOADED',
        `not committed: ${this.#members.size} requests of ${this.#bytes} bytes wait already; try ` +
          'again later',
        { details: { retryAfterMs: 1000 } },
      );
    }
    this.#members.add(member);
    this.#byOp.set(member.op, member);
    this.#bytes += member.bytes;
    member.answered.addEventListener('abort', () => this.#remove(member), { once: true });
  }

  /** The member that waits with an operation: it and a request sent again are one. */
  find(op: string): Member | undefined {
    return this.#byOp.get(op);
  }

  /** The first `limit` members in order, without those whose answer is being read back. */
  head(limit: number): Member[] {
    const head: Member[] = [];
    for (const member of this.#members) {
      if (head.length === limit) break;
      if (!member.recalling) head.push(member);
    }
    return head;
  }

  /** Answers every member with an error. */
  failAll(error: unknown): void {
    for (const member of [...this.#members]) member.fail(error);
  }

  #remove(member: Member): void {
    if (!this.#members.delete(member)) return;
    this.#byOp.delete(member.op);
    this.#bytes -= member.bytes;
  }
}
