/** What the emulator can be told to do to the next matching request. */

/**
 * | kind | what happens |
 * |---|---|
 * | `drop` | applied, then the connection is closed without an answer |
 * | `status-after` | applied, answered with `status` all the same |
 * | `status` | not applied, answered with `status` |
 * | `silent-after`, `silent` | applied or not, never answered |
 * | `stall` | headers and `bytes` of the body, then silence |
 * | `cut` | headers and `bytes` of the body, then the connection is closed |
 * | `reset` | headers and `bytes` of the body, then a reset |
 * | `damage` | the first byte of the upload's content is flipped on arrival |
 * | `body` | applied, answered with status 200 and this body |
 */
export interface Fault {
  readonly kind:
    | 'drop'
    | 'status-after'
    | 'status'
    | 'silent-after'
    | 'silent'
    | 'stall'
    | 'cut'
    | 'reset'
    | 'damage'
    | 'body';
  /** Only requests of this method. */
  readonly method?: string;
  /** How many requests it meets. Default 1. */
  readonly times?: number;
  readonly status?: number;
  /** A negative number counts from the end. */
  readonly bytes?: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly reason?: string;
}

/** Faults in the order they were asked for; each is used up by the requests it meets. */
export class Faults {
  readonly #waiting: { readonly fault: Fault; left: number }[] = [];

  add(fault: Fault): void {
    this.#waiting.push({ fault, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#waiting.length = 0;
  }

  take(method: string): Fault | undefined {
    const at = this.#waiting.findIndex(({ fault }) => (fault.method ?? method) === method);
    const found = this.#waiting[at];
    if (found === undefined) return undefined;
    found.left -= 1;
    if (found.left === 0) this.#waiting.splice(at, 1);
    return found.fault;
  }
}
