/** A map bounded by the total weight of its values; the least recently used go first (I17). */
export class Lru<K, V> {
  readonly #weightMax: number;
  readonly #weigh: (value: V) => number;
  readonly #entries = new Map<K, V>();
  /**
   * Goes over the entries, oldest first. Kept: one that begins anew walks over the places of all
   * that have gone since the map was last rebuilt.
   */
  #oldest: Iterator<K> | null = null;
  #weight = 0;

  /**
   * @param weightMax total weight the map may hold, in the unit of `weigh`
   * @param weigh weight of one value; default 1, which bounds the count
   */
  constructor(weightMax: number, weigh: (value: V) => number = () => 1) {
    this.#weightMax = weightMax;
    this.#weigh = weigh;
  }

  get size(): number {
    return this.#entries.size;
  }

  get weight(): number {
    return this.#weight;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Puts a value in front; one heavier than the whole map is not kept. */
  set(key: K, value: V): void {
    this.delete(key);
    const weight = this.#weigh(value);
    if (weight > this.#weightMax) return;
    this.#entries.set(key, value);
    this.#weight += weight;
    while (this.#weight > this.#weightMax) this.#deleteOldest();
  }

  delete(key: K): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    this.#weight -= this.#weigh(value);
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }

  #deleteOldest(): void {
    this.#oldest ??= this.#entries.keys();
    const { value, done } = this.#oldest.next();
    // It never comes to its end while something is too heavy, unless it came there before.
    if (done === true) this.#oldest = null;
    else this.delete(value);
  }
}
