/** Keeps what clients called and were told, and what they know of documents from it. */
import type { Call, Violation } from './history.ts';
import { atAnswer } from './oracle/checks.ts';
import type { GhostLog } from './oracle/ghost-log.ts';
import type { SimProcess } from './process.ts';

/** The newest that any client was told of a document. */
export interface Known {
  readonly version: number;
  readonly etag: string;
  readonly bodyHash: string | null;
}

export class History {
  readonly violations: Violation[] = [];
  readonly #calls: Call[] = [];
  readonly #ghost: GhostLog;
  readonly #known = new Map<string, Known>();
  readonly #open = new Map<SimProcess, number>();

  constructor(ghost: GhostLog) {
    this.#ghost = ghost;
  }

  /** In the order of calling; what has no answer has `returned: null`. */
  get calls(): readonly Call[] {
    return this.#calls;
  }

  /** Calls that wait for an answer, those of crashed processes not among them. */
  get open(): number {
    let open = 0;
    for (const [process, count] of this.#open) if (!process.crashed) open += count;
    return open;
  }

  /** Writes that were acknowledged, and committed something. */
  get acknowledged(): number {
    return this.#calls.filter((call) => {
      if (call.kind !== 'write' || call.outcome?.kind !== 'taken') return false;
      return call.outcome.taken.some(({ committed }) => committed);
    }).length;
  }

  /** Notes a call as it is made; the answer replaces it. */
  call(process: SimProcess, call: Call): (now: number, answered: Call) => void {
    const index = this.#calls.push(call) - 1;
    this.#count(process, 1);
    return (now, answered) => {
      this.#count(process, -1);
      this.#calls[index] = answered;
      this.violations.push(...atAnswer(answered, this.#ghost, now));
    };
  }

  known(path: string): Known | undefined {
    return this.#known.get(path);
  }

  learn(path: string, known: Known): void {
    const before = this.#known.get(path);
    if (before === undefined || known.version >= before.version) this.#known.set(path, known);
  }

  #count(process: SimProcess, by: number): void {
    this.#open.set(process, (this.#open.get(process) ?? 0) + by);
  }
}
