/**
 * One look for many who ask: they share one that began after they asked, so that each is told of
 * everything that was there when it asked.
 */

interface Look {
  readonly result: Promise<void>;
}

export class SharedLook {
  readonly #look: () => Promise<void>;
  #running: Look | null = null;
  #waiting: Look | null = null;

  /** @param look one look; at most one runs at a time */
  constructor(look: () => Promise<void>) {
    this.#look = look;
  }

  /** A look that begins after now: the one that waits its turn, or a new one. */
  next(): Promise<void> {
    if (this.#waiting !== null) return this.#waiting.result;
    if (this.#running === null) return this.#start().result;
    const before = this.#running.result.catch(() => undefined);
    this.#waiting = { result: before.then(() => this.#start().result) };
    this.#waiting.result.catch(() => undefined);
    return this.#waiting.result;
  }

  #start(): Look {
    this.#waiting = null;
    const look: Look = {
      result: this.#look().finally(() => {
        if (this.#running === look) this.#running = null;
      }),
    };
    // All who share it may have left by the time it fails.
    look.result.catch(() => undefined);
    this.#running = look;
    return look;
  }
}
