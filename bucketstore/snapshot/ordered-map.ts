/**
 * An ordered map that is copied in constant time: the copy shares every node and copies one only
 * when it is changed. It is what makes a snapshot immutable at the cost of its difference to the
 * next.
 */
import sortedBtree from 'sorted-btree';
import { KeyOrder } from '../base/order.ts';

// The package is CommonJS: its class is the `default` of what Node imports as the default.
const BTree = sortedBtree.default;

interface Order<K> {
  readonly compare: (a: K, b: K) => number;
  /** Told of each key that comes into the map, or into a copy of it. */
  readonly note: (key: K) => void;
}

const NUMBERS: Order<number> = { compare: (a, b) => a - b, note: () => undefined };

/** Keys in an order, values by key. */
export class OrderedMap<K, V> {
  readonly #tree: sortedBtree.default<K, V>;
  readonly #order: Order<K>;

  private constructor(tree: sortedBtree.default<K, V>, order: Order<K>) {
    this.#tree = tree;
    this.#order = order;
  }

  /** An empty map of text in UTF-8 byte order. */
  static byText<V>(): OrderedMap<string, V> {
    return OrderedMap.by<string, V>(new KeyOrder());
  }

  /** An empty map of numbers, ascending. */
  static byNumber<K extends number, V>(): OrderedMap<K, V> {
    return OrderedMap.by<K, V>(NUMBERS);
  }

  static by<K, V>(order: Order<K>): OrderedMap<K, V> {
    return new OrderedMap(new BTree<K, V>(undefined, order.compare), order);
  }

  get size(): number {
    return this.#tree.size;
  }

  get(key: K): V | undefined {
    return this.#tree.get(key);
  }

  set(key: K, value: V): void {
    this.#order.note(key);
    this.#tree.set(key, value);
  }

  delete(key: K): void {
    this.#tree.delete(key);
  }

  /** A map that starts equal and goes its own way. Constant time. */
  copy(): OrderedMap<K, V> {
    return new OrderedMap(this.#tree.clone(), this.#order);
  }

  /**
   * Entries from the first key at or after `from`, ascending. The map must not change meanwhile.
   */
  from(key?: K): IterableIterator<readonly [K, V]> {
    return this.#tree.entries(key);
  }

  /** Entries from the last key at or before `key`, descending. */
  backFrom(key?: K): IterableIterator<readonly [K, V]> {
    return this.#tree.entriesReversed(key);
  }

  /** The entry of the last key at or before `key`. */
  floor(key: K): readonly [K, V] | undefined {
    return this.#tree.getPairOrNextLower(key);
  }
}
