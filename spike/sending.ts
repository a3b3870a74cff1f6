/** Objects on their way into the bucket: some at once, and no more of them in memory than that. */
import type { ObjectWriter } from '../checkpoint/object-writer.ts';

/** Sends derived objects. */
export class Sending {
  readonly #writer: ObjectWriter;
  readonly #atOnce: number;
  readonly #signal: AbortSignal;
  readonly #open = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | null = null;
  #objects = 0;
  #bytes = 0;

  constructor(writer: ObjectWriter, atOnce: number, signal: AbortSignal) {
    this.#writer = writer;
    this.#atOnce = atOnce;
    this.#signal = signal;
  }

  /** Objects that were handed in, whether they were there before or not. */
  get objects(): number {
    return this.#objects;
  }

  /** Their bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Resolves when there is room for the next one, not when this one is there.
   * @throws what an earlier one failed with
   */
  async put(key: string, bytes: Uint8Array): Promise<void> {
    this.#objects++;
    this.#bytes += bytes.length;
    const sending = this.#writer
      .put(key, bytes, { signal: this.#signal })
      .then(
        () => undefined,
        (error: unknown) => {
          this.#failure ??= { error };
        },
      )
      .finally(() => this.#open.delete(sending));
    this.#open.add(sending);
    while (this.#open.size >= this.#atOnce) await Promise.race(this.#open);
    this.#check();
  }

  /** Resolves when all of them are there. @throws what one of them failed with */
  async end(): Promise<void> {
    await Promise.all(this.#open);
    this.#check();
  }

  #check(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }
}
