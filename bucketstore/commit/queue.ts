/** The requests of one world that wait for an answer, in order of arrival, bounded (I17). */
import { StoreError } from '../base/errors.ts';
import { Control, Member } from './member.ts';

export interface QueueBounds {
  readonly members: number;
  readonly bytes: number;
}

/** What waits: a member of the next batch, or a control entry, which is a batch by itself. */
export type Queued = Member | Control;

/**
 * A member stays until it is answered, also while its slot is being created: so a batch that loses
 * its name is simply at the head again.
 */
export class Queue {
  readonly #bounds: QueueBounds;
  readonly #queued = new Set<Queued>();
  readonly #byOp = new Map<string, Queued>();
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

  /**
   * Takes a member in, until it is answered.
   * @throws StoreError `OVERLOADED` when a bound would be passed: not committed
   */
  add(member: Queued): void {
    const { members, bytes } = this.#bounds;
    // One request alone always has room, however large it may legally be.
    const full = this.#queued.size > 0 && this.#bytes + member.bytes > bytes;
    if (this.#queued.size >= members || full) {
      throw new StoreError(
        'OVERLOADED',
        `not committed: ${this.#queued.size} requests of ${this.#bytes} bytes wait already; try ` +
          'again later',
        { details: { retryAfterMs: 1000 } },
      );
    }
    this.#queued.add(member);
    this.#byOp.set(member.op, member);
    this.#bytes += member.bytes;
    member.onAnswered(() => this.#remove(member));
  }

  /** The member that waits with an operation: it and a request sent again are one. */
  find(op: string): Member | undefined {
    const queued = this.#byOp.get(op);
    return queued instanceof Member ? queued : undefined;
  }

  /**
   * What comes next: a control entry, or the first `limit` members up to one, without those whose
   * answer is being read back.
   */
  head(limit: number): Control | readonly Member[] {
    const head: Member[] = [];
    for (const queued of this.#queued) {
      if (queued instanceof Control) {
        if (head.length === 0) return queued;
        break;
      }
      if (head.length === limit) break;
      if (!queued.recalling) head.push(queued);
    }
    return head;
  }

  /** Answers every member with an error. */
  failAll(error: unknown): void {
    for (const member of [...this.#queued]) member.fail(error);
  }

  #remove(member: Queued): void {
    if (!this.#queued.delete(member)) return;
    this.#byOp.delete(member.op);
    this.#bytes -= member.bytes;
  }
}
