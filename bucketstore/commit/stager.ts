/** Staging in the background: large stored versions go to the bucket as soon as they are built. */
import { blobKey } from '../log/names.ts';
import type { Member } from './member.ts';
import { type StageParts, stage } from './stage.ts';

/** A stored version on its way to the bucket. */
export class Staging {
  /** Whether it is there. */
  isDone = false;
  /** Resolves when it is there, or when its member has been told that it cannot be. */
  readonly settled: Promise<void>;

  constructor(work: Promise<void>, member: Member) {
    this.settled = work.then(
      () => {
        this.isDone = true;
      },
      (error: unknown) => member.fail(error),
    );
  }
}

/**
 * Keeps what its members have staged for as long as they wait: a batch that loses its name does not
 * stage again in the same epoch. Bounded by the queue.
 */
export class Stager {
  readonly #parts: StageParts;
  readonly #byMember = new Map<Member, Map<string, Staging>>();

  constructor(parts: StageParts) {
    this.#parts = parts;
  }

  /** Members that have something staged or on its way (I17). */
  get size(): number {
    return this.#byMember.size;
  }

  /** Begins to stage a version of a member under an epoch, unless that has been begun. */
  start(member: Member, epoch: number, storedHash: string, bytes: Uint8Array): Staging {
    const key = blobKey(epoch, storedHash);
    const own = this.#byMember.get(member) ?? this.#open(member);
    const begun = own.get(key);
    if (begun !== undefined) return begun;
    const staging = new Staging(stage(this.#parts, key, bytes, member.answered), member);
    own.set(key, staging);
    return staging;
  }

  #open(member: Member): Map<string, Staging> {
    const own = new Map<string, Staging>();
    this.#byMember.set(member, own);
    member.onAnswered(() => this.#byMember.delete(member));
    return own;
  }
}
