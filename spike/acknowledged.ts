/** Operations of acknowledged writes, 16 bytes each: a long run must not look like a leak. */

const UUID_BYTES = 16;
const ROOM_MIN = 1_024;

export class Acknowledged {
  #bytes = Buffer.alloc(ROOM_MIN * UUID_BYTES);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** @param op a UUID in lower case */
  add(op: string): void {
    const at = this.#count * UUID_BYTES;
    if (at === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], at * 2);
    this.#bytes.write(op.replaceAll('-', ''), at, 'hex');
    this.#count++;
  }

  /** Every operation, in the order in which they were added. */
  *[Symbol.iterator](): IterableIterator<string> {
    for (let i = 0; i < this.#count; i++) {
      const hex = this.#bytes.toString('hex', i * UUID_BYTES, (i + 1) * UUID_BYTES);
      const [time, middle, version] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16)];
      yield `${time}-${middle}-${version}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    }
  }
}
