/** Bytes of the entries that changed between two checkpoints: what these are held against. */

interface Change {
  readonly sequence: number;
  readonly document: number;
  readonly bytes: number;
}

/** Holds what no checkpoint covers yet. */
export class ChangedBytes {
  #pending: Change[] = [];

  /** A change that was committed. @param bytes of the document's entry after it */
  add(sequence: number, document: number, bytes: number): void {
    this.#pending.push({ sequence, document, bytes });
  }

  /**
   * The entries that changed up to a sequence since the last time: of each document the last.
   * Forgets them.
   */
  through(sequence: number): number {
    const covered = new Map<number, Change>();
    const rest: Change[] = [];
    for (const change of this.#pending) {
      if (change.sequence > sequence) rest.push(change);
      else if ((covered.get(change.document)?.sequence ?? 0) < change.sequence) {
        covered.set(change.document, change);
      }
    }
    this.#pending = rest;
    let bytes = 0;
    for (const change of covered.values()) bytes += change.bytes;
    return bytes;
  }
}
