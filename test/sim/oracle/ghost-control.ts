/** Control state of the ghost log: what control entries may follow what, and what they decide. */
import type { OracleEntry, OracleMarker } from '../../oracle/objects.ts';

export class GhostControl {
  epoch: number;
  floor: number;
  sealed = false;
  #mutation: number;
  #plan: string | null = null;
  readonly #pins = new Set<string>();

  constructor({ start }: OracleMarker) {
    this.epoch = start.epoch;
    this.floor = start.sequence + 1;
    this.#mutation = start.sequence;
  }

  /** Takes a control entry. @returns what is wrong with it, or null */
  apply(entry: OracleEntry): string | null {
    const said = entry as unknown as { readonly [name: string]: unknown };
    switch (entry.kind) {
      case 'floor':
        return this.#raise(entry.sequence, Number(said['at']), Number(said['mutation']));
      case 'barrier':
        return this.#barrier(String(said['plan']));
      case 'clear': {
        const right = this.#plan === said['plan'];
        this.#plan = null;
        return right ? null : 'clears a plan that is not open';
      }
      case 'pin':
        return this.#pin(String(said['id']));
      case 'unpin':
        return this.#pins.delete(String(said['id'])) ? null : 'unpins what is not pinned';
      case 'seal':
        this.sealed = true;
        return this.#plan === null && this.#pins.size === 0 ? null : 'seals an open plan or pins';
      default:
        return `is of no known kind: ${entry.kind}`;
    }
  }

  /** Notes a mutation, of which floors speak. */
  mutated(sequence: number): void {
    this.#mutation = sequence;
  }

  #raise(sequence: number, at: number, mutation: number): string | null {
    if (!(at > this.floor)) return `lowers or repeats the floor ${this.floor} with ${at}`;
    if (at > sequence) return `a floor ${at} above its own sequence`;
    this.floor = at;
    return mutation < at && mutation <= this.#mutation ? null : `a floor names ${mutation}`;
  }

  #barrier(plan: string): string | null {
    const open = this.#plan;
    this.#plan = plan;
    this.epoch += 1;
    return open === null ? null : `a barrier while plan ${open} is open`;
  }

  #pin(id: string): string | null {
    if (this.#pins.has(id)) return `pins ${id} again`;
    this.#pins.add(id);
    return null;
  }
}
