/**
 * What happened in a run, counted by name: a simulation that never met the hard events proves
 * nothing, so whoever runs it asks here whether they came.
 */

/** A bag of named counters. Names are free text; order never depends on when they were counted. */
export class Coverage {
  readonly #counts = new Map<string, number>();

  /** Adds `by` to the counter of that name, which starts at 0. */
  count(name: string, by = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }

  /** How often it was counted; 0 when never. */
  get(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Adds all of another's counters to these. */
  merge(other: Coverage): void {
    for (const [name, by] of other.#counts) this.count(name, by);
  }

  /** All counters, by name. */
  entries(): readonly (readonly [name: string, count: number])[] {
    return [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** A plain table: one counter a line by name, its number right-aligned before it. */
  table(): string {
    const entries = this.entries();
    const width = Math.max(0, ...entries.map(([, count]) => String(count).length));
    return entries.map(([name, count]) => `${String(count).padStart(width)}  ${name}`).join('\n');
  }
}
