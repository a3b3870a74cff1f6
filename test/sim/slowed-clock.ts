/** How one clock of a simulated process goes: with true time, but for what keeps it from that. */

/** A clock that goes with true time but for the times it was stopped, and can be set. */
export class SlowedClock {
  #offsetMs: number;
  #stoppedMs: number | null = null;

  constructor(offsetMs: number) {
    this.#offsetMs = offsetMs;
  }

  /** What it shows at a true time. */
  at(now: number): number {
    return this.#offsetMs + (this.#stoppedMs ?? now);
  }

  /** It stands still from now on. */
  stop(now: number): void {
    this.#stoppedMs ??= now;
  }

  /** It goes on, behind by as long as it stood. */
  start(now: number): void {
    if (this.#stoppedMs === null) return;
    this.#offsetMs -= now - this.#stoppedMs;
    this.#stoppedMs = null;
  }

  /** It is set, forward or back. */
  jump(ms: number): void {
    this.#offsetMs += ms;
  }
}
