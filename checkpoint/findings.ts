/** What is wrong in one object, in one sentence however much it is. */

export class Findings {
  #first: string | null = null;
  #count = 0;

  add(problem: string): void {
    this.#first ??= problem;
    this.#count += 1;
  }

  /** The first, and how many more there are; null when there is none. */
  text(): string | null {
    if (this.#first === null) return null;
    return this.#count === 1 ? this.#first : `${this.#first}; and ${this.#count - 1} more`;
  }
}

/** Names of the members in which two canonical JSON objects differ. */
export function fieldsThatDiffer(expected: Uint8Array, found: Uint8Array): string {
  const [one, other] = [expected, found].map((json) => membersOf(json));
  const names = Object.keys({ ...one, ...other });
  const differ = names.filter(
    (name) => JSON.stringify(one?.[name]) !== JSON.stringify(other?.[name]),
  );
  return differ.sort().join(', ');
}

function membersOf(json: Uint8Array): Record<string, unknown> {
  return JSON.parse(Buffer.from(json).toString()) as Record<string, unknown>;
}
