/** How a store says no: how quickly it refuses, and whether what it took was answered in time. */
import { isStoreError } from '../bucketstore/index.ts';
import { Samples } from './measure.ts';

/** A timer may fire this much before its time. */
const TIMER_MS = 2;

/** When a write was due, when it was asked for, and when its answer came; monotonic ms. */
export interface Times {
  readonly dueMs: number;
  readonly calledMs: number;
  readonly answeredMs: number;
}

/** Kept over the whole run, measured or not, for all stores of it. */
export class Overload {
  readonly deadlineMs: number;
  /** From arrival to `OVERLOADED`, of writes that were refused before their deadline. */
  readonly refused: Samples = new Samples();
  #overdue = 0;
  #lateAcknowledged = 0;
  #longestMs = 0;

  constructor(deadlineMs: number) {
    this.deadlineMs = deadlineMs;
  }

  /** Writes that were taken and had no answer by their deadline, whatever they were told then. */
  get overdue(): number {
    return this.#overdue;
  }

  /** Writes that were acknowledged after their deadline. */
  get lateAcknowledged(): number {
    return this.#lateAcknowledged;
  }

  /** The longest time from asking to an answer, whatever it was. */
  get longestMs(): number {
    return this.#longestMs;
  }

  acknowledged(times: Times): void {
    if (this.#tookMs(times) > this.deadlineMs) this.#lateAcknowledged++;
  }

  failed(error: unknown, times: Times): void {
    if (this.#tookMs(times) >= this.deadlineMs - TIMER_MS) this.#overdue++;
    else if (isStoreError(error) && error.code === 'OVERLOADED') {
      this.refused.add(0, times.answeredMs - times.dueMs);
    }
  }

  #tookMs({ calledMs, answeredMs }: Times): number {
    const tookMs = answeredMs - calledMs;
    this.#longestMs = Math.max(this.#longestMs, tookMs);
    return tookMs;
  }
}
