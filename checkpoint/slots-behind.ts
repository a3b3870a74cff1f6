/**
 * Counts what lies behind the newest checkpoint that is known, however long that is: slots that
 * entered the state are marks with a sum each, and when there are many, two become one.
 */
import { isMutation } from '../bucketstore/log/entry-rules.ts';
import type { EnteredSlot } from '../bucketstore/snapshot/load.ts';
import type { Behind } from './triggers.ts';

/** More marks than slots make a checkpoint due, so that those are told apart. */
export const MARKS_MAX = 2048;

/** Neighbouring slots with mutations. */
interface Mark extends Behind {
  /** The last sequence of the last one. */
  readonly last: number;
}

const NOTHING: Behind = { slots: 0, bytes: 0, mutations: 0, sinceMs: 0 };

export class SlotsBehind {
  #marks: Mark[] = [];
  #sum: Behind = NOTHING;
  /** Slots of a mark at most. */
  #grain = 1;
  #known = 0;

  /** The sequence of the newest checkpoint that is known. */
  get known(): number {
    return this.#known;
  }

  /** What is behind it now. */
  get now(): Behind {
    return this.#sum;
  }

  /** Marks held (I17). */
  get marks(): number {
    return this.#marks.length;
  }

  /** Notes a slot that entered the state, in the order of the log. */
  note({ slot: { last, entries }, size }: EnteredSlot, nowMs: number): void {
    if (last <= this.#known) return;
    // A control entry is alone in its slot.
    if (!entries.every(isMutation)) return;
    const mark = { last, slots: 1, bytes: size, mutations: entries.length, sinceMs: nowMs };
    this.#sum = joined(this.#sum, mark);
    const newest = this.#marks.at(-1);
    if (newest === undefined || newest.slots >= this.#grain) this.#marks.push(mark);
    else this.#marks[this.#marks.length - 1] = { ...joined(newest, mark), last };
    if (this.#marks.length >= MARKS_MAX) this.#halve();
  }

  /** A checkpoint is known. An older one than the newest changes nothing. */
  checkpoint(at: number): void {
    if (at <= this.#known) return;
    this.#known = at;
    this.#marks = this.#marks.filter(({ last }) => last > at);
    this.#sum = this.#marks.reduce(joined, NOTHING);
    if (this.#marks.length === 0) this.#grain = 1;
  }

  #halve(): void {
    const halved: Mark[] = [];
    for (let i = 0; i < this.#marks.length; i += 2) {
      const [one, next] = this.#marks.slice(i, i + 2);
      if (one === undefined) break;
      halved.push(next === undefined ? one : { ...joined(one, next), last: next.last });
    }
    this.#marks = halved;
    this.#grain *= 2;
  }
}

function joined(one: Behind, later: Behind): Behind {
  return {
    slots: one.slots + later.slots,
    bytes: one.bytes + later.bytes,
    mutations: one.mutations + later.mutations,
    sinceMs: one.slots === 0 ? later.sinceMs : one.sinceMs,
  };
}
