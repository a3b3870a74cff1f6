/** Events by time: a binary heap whose order is (time, insertion). */

/** An event that waits. */
export class AgendaEvent {
  readonly dueMs: number;
  readonly order: number;
  /** null: fired or cancelled. */
  run: (() => void) | null;

  constructor(dueMs: number, order: number, run: () => void) {
    this.dueMs = dueMs;
    this.order = order;
    this.run = run;
  }
}

/** What is due when. A cancelled event stays as a gap until its turn comes, and fires nothing. */
export class Agenda {
  readonly #heap: AgendaEvent[] = [];
  #added = 0;
  #size = 0;

  /** How many events wait. */
  get size(): number {
    return this.#size;
  }

  /** When the first event is due. */
  get nextMs(): number | undefined {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || first.run !== null) return first?.dueMs;
      this.#pop();
    }
  }

  add(dueMs: number, run: () => void): AgendaEvent {
    const event = new AgendaEvent(dueMs, this.#added, run);
    this.#added += 1;
    this.#size += 1;
    this.#rise(event, this.#heap.length);
    return event;
  }

  /** Takes an event away; one that fired already is left alone. */
  cancel(event: AgendaEvent): void {
    if (event.run === null) return;
    event.run = null;
    this.#size -= 1;
  }

  /** The first event that is due by then, which is taken away; null when there is none. */
  take(dueMs: number): (() => void) | null {
    const nextMs = this.nextMs;
    if (nextMs === undefined || nextMs > dueMs) return null;
    const event = this.#pop();
    const run = event?.run ?? null;
    if (event !== undefined) event.run = null;
    this.#size -= 1;
    return run;
  }

  #pop(): AgendaEvent | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) this.#sink(last);
    return first;
  }

  /** Puts an event at a free place at the end, or above it. */
  #rise(event: AgendaEvent, free: number): void {
    let place = free;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = this.#heap[above];
      if (parent === undefined || isBefore(parent, event)) break;
      this.#heap[place] = parent;
      place = above;
    }
    this.#heap[place] = event;
  }

  /** Puts an event at the top, or below it. */
  #sink(event: AgendaEvent): void {
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      let child = this.#heap[below];
      if (child === undefined) break;
      const right = this.#heap[below + 1];
      if (right !== undefined && isBefore(right, child)) {
        child = right;
        below += 1;
      }
      if (isBefore(event, child)) break;
      this.#heap[place] = child;
      place = below;
    }
    this.#heap[place] = event;
  }
}

function isBefore(a: AgendaEvent, b: AgendaEvent): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
