/** Bounds what an import has in flight, in documents and in bytes (I17). */

/** Enough for eight full slots: one being created, the others waiting. */
const IN_FLIGHT_MAX = 2048;
/** Half of what the committer's queue takes by default, so that it never answers OVERLOADED. */
const IN_FLIGHT_BYTES_MAX = 32 * 1024 * 1024;

/** For one caller, who asks for room, starts work, and asks again. */
export class ImportGate {
  #count = 0;
  #bytes = 0;
  #failure: { readonly error: unknown } | null = null;
  #wake: () => void = () => undefined;

  /** Waits until work of `bytes` may start. @throws what failed first of what was started */
  async room(bytes: number): Promise<void> {
    await this.#until(
      () =>
        this.#count === 0 ||
        (this.#count < IN_FLIGHT_MAX && this.#bytes + bytes <= IN_FLIGHT_BYTES_MAX),
    );
    this.#check();
  }

  /** Counts work until it ends. */
  start(bytes: number, work: Promise<void>): void {
    this.#count++;
    this.#bytes += bytes;
    work
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#count--;
        this.#bytes -= bytes;
        this.#wake();
      });
  }

  /** Waits until nothing is in flight. @throws what failed first */
  async settled(): Promise<void> {
    await this.#until(() => this.#count === 0);
    this.#check();
  }

  async #until(ready: () => boolean): Promise<void> {
    while (!ready()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #check(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }
}
