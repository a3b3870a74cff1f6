/**
 * A state on its way onto a newer checkpoint. That takes time in proportion to what has changed, so
 * it is done in steps, while the served state moves on; the slots that enter it meanwhile are
 * remembered and applied before it is served.
 */
import { sequence } from '../base/sequence.ts';
import { applySlot } from './apply.ts';
import type { BaseState } from './base.ts';
import type { EnteredSlot } from './load.ts';
import type { Snapshot } from './snapshot.ts';

/** Entries applied in one step: about 3 ms of work. */
const APPLIED_STEP = 256;
/**
 * Entries remembered before it is given up (I17): the state then goes on as it is, until the next
 * checkpoint is known.
 */
export const REMEMBERED_MAX = 65_536;

export class Resting {
  #entered: EnteredSlot[] = [];
  #entries = 0;
  #stopped = false;

  /** Entries that entered the served state and are not applied yet. */
  get behind(): number {
    return this.#entries;
  }

  /** Remembers a slot that has entered the served state. */
  enter(read: EnteredSlot): void {
    if (this.#stopped) return;
    this.#entered.push(read);
    this.#entries += read.slot.entries.length;
    if (this.#entries > REMEMBERED_MAX) this.stop();
  }

  /** What is under way comes to nothing: the served state has become another. */
  stop(): void {
    this.#stopped = true;
    this.#entered = [];
    this.#entries = 0;
  }

  /**
   * Puts a state onto a checkpoint, in steps of some ms.
   * @param served the state now; every slot that enters it later is told to `enter`
   * @param serve told of the state that says what the served one says at that very moment
   * @returns whether `serve` was told
   * @throws StoreError `INTEGRITY` when the checkpoint has a document otherwise
   */
  *steps(
    served: Snapshot,
    base: BaseState,
    serve: (moved: Snapshot) => void,
  ): Generator<undefined, boolean> {
    const [at, packed] = [sequence(base.sequence), sequence(base.packedThrough)];
    const rebase = served.rebaseSteps(base, at, packed);
    let step = rebase.next();
    for (; step.done !== true; step = rebase.next()) {
      yield;
      if (this.#stopped) return false;
    }
    let moved = step.value;
    let applied = 0;
    for (let read = this.#take(); read !== undefined; read = this.#take()) {
      moved = applySlot(moved, read.slot, read.hash);
      applied += read.slot.entries.length;
      if (applied < APPLIED_STEP) continue;
      applied = 0;
      yield;
      if (this.#stopped) return false;
    }
    serve(moved);
    return true;
  }

  #take(): EnteredSlot | undefined {
    const read = this.#entered.shift();
    this.#entries -= read?.slot.entries.length ?? 0;
    return read;
  }
}
