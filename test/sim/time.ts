/**
 * True time of a simulation, which no store can see: an agenda of events and the loop that runs it.
 *
 * All events of one instant fire in order, then one turn of `setImmediate` runs every promise job
 * they made; only then does time go on. So a run depends on the order of events alone, and costs a
 * few µs an instant. Code that waits for real I/O is not drained by that.
 */
import { drain } from '../support/manual-clock.ts';
import { Agenda, type AgendaEvent } from './agenda.ts';

/** An event that waits; `Timeline.cancel` takes it away. */
export type TimelineEvent = AgendaEvent;

/** Virtual time in whole ms from 0, and what is due when. */
export class Timeline {
  /** Is told every line of the trace, with its time in front; null: none are kept. */
  tracer: ((line: string) => void) | null = null;
  readonly #agenda = new Agenda();
  #now = 0;
  #left = 0x2f0b4f27;
  #right = 0x165667b1;

  /** ms since the start. */
  get now(): number {
    return this.#now;
  }

  /** How many events wait. */
  get waiting(): number {
    return this.#agenda.size;
  }

  /**
   * Two runs that traced the same lines at the same times have the same value, and others do not
   * but by a chance of 2^-53. Cheap enough to be always on.
   */
  get fingerprint(): number {
    const left = scatter(this.#left ^ (this.#right >>> 13));
    const right = scatter(this.#right ^ (this.#left >>> 11));
    return (right & 0x1f_ffff) * 0x1_0000_0000 + (left >>> 0);
  }

  /**
   * Fires `run` at a time, rounded up to a whole ms; what is past is due now. Events of one instant
   * fire in the order in which they were added.
   */
  at(ms: number, run: () => void): TimelineEvent {
    return this.#agenda.add(Math.max(Math.ceil(ms), this.#now), run);
  }

  /** Fires `run` in `ms` from now, rounded up. */
  after(ms: number, run: () => void): TimelineEvent {
    return this.at(this.#now + ms, run);
  }

  /** Takes an event away; one that fired already is left alone. */
  cancel(event: TimelineEvent): void {
    this.#agenda.cancel(event);
  }

  /** Adds a line to the fingerprint, and to the trace when somebody keeps one. */
  trace(line: string): void {
    let left = Math.imul(this.#left ^ this.#now, 0x9e3779b1);
    let right = Math.imul(this.#right ^ this.#now, 0x5f356495);
    for (let i = 0; i < line.length; i++) {
      const unit = line.charCodeAt(i);
      left = Math.imul(left ^ unit, 0x9e3779b1);
      right = Math.imul(right ^ unit, 0x5f356495);
    }
    this.#left = left ^ (left >>> 15);
    this.#right = right ^ (right >>> 15);
    this.tracer?.(`${this.#now} ${line}`);
  }

  /**
   * Lets time pass: until it is `until` (what is due then has fired, and the answer is true), or
   * until a condition holds, which is asked after every instant. False when a condition still does
   * not hold and no event is left, or the next is later than `limitMs`. Throws what an event
   * throws.
   */
  async run(
    until: number | (() => boolean),
    limitMs: number = Number.POSITIVE_INFINITY,
  ): Promise<boolean> {
    const lastMs = typeof until === 'number' ? until : limitMs;
    await drain();
    for (;;) {
      if (typeof until === 'function' && until()) return true;
      const dueMs = this.#agenda.nextMs;
      if (dueMs === undefined || dueMs > lastMs) break;
      this.#now = dueMs;
      for (let run = this.#agenda.take(dueMs); run !== null; run = this.#agenda.take(dueMs)) run();
      await drain();
    }
    if (typeof until === 'function') return false;
    this.#now = Math.max(this.#now, until);
    return true;
  }
}

function scatter(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
