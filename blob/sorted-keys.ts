/**
 * A set of keys that can be walked in UTF-8 byte order from any place. Built for buckets of
 * 100,000s of objects that are written mostly in ascending order: such a key costs one comparison,
 * any other is put aside until the next walk, and a removed key stays as a gap until gaps outnumber
 * keys.
 */
import { compareKeys } from './order.ts';

/**
 * Up to so many keys put aside, moving the tail for each is cheaper than one merge of everything.
 */
const INSERT_COUNT_MAX = 32;

export class SortedKeys {
  /** Ascending; holds the keys in `#gaps` too. */
  #sorted: string[] = [];
  #aside: string[] = [];
  readonly #gaps = new Set<string>();

  /** Adds a key that is not in the set. */
  add(key: string): void {
    if (this.#gaps.delete(key)) return;
    const last = this.#sorted.at(-1);
    if (last === undefined || compareKeys(last, key) < 0) this.#sorted.push(key);
    else this.#aside.push(key);
  }

  /** Removes a key that is in the set. */
  delete(key: string): void {
    this.#gaps.add(key);
    if (this.#gaps.size > 1024 && this.#gaps.size * 2 > this.#sorted.length) this.#close();
  }

  /** The keys from `start` on, ascending. The set must not change during the walk. */
  *from(start: string): Generator<string, void, undefined> {
    this.#settle();
    for (let i = this.#lowerBound(start); i < this.#sorted.length; i++) {
      const key = this.#sorted[i];
      if (key !== undefined && !this.#gaps.has(key)) yield key;
    }
  }

  /** Puts the keys aside where they belong. */
  #settle(): void {
    const aside = this.#aside;
    if (aside.length === 0) return;
    this.#aside = [];
    if (aside.length <= INSERT_COUNT_MAX) {
      for (const key of aside) this.#sorted.splice(this.#lowerBound(key), 0, key);
      return;
    }
    this.#sorted = merge(this.#sorted, aside.sort(compareKeys));
  }

  #close(): void {
    this.#settle();
    this.#sorted = this.#sorted.filter((key) => !this.#gaps.has(key));
    this.#gaps.clear();
  }

  /** Index of the first key that is not below `key`. */
  #lowerBound(key: string): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys(this.#sorted[middle] ?? '', key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Two ascending lists without common keys as one. */
function merge(a: readonly string[], b: readonly string[]): string[] {
  const merged: string[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const x = a[i] ?? '';
    const y = b[j] ?? '';
    if (compareKeys(x, y) < 0) {
      merged.push(x);
      i += 1;
    } else {
      merged.push(y);
      j += 1;
    }
  }
  return merged.concat(a.slice(i), b.slice(j));
}
