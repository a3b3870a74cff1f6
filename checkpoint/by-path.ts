/** What a stretch of the log changed, in the order of tables. */
import { KeyOrder } from '../bucketstore/base/order.ts';

/** What is sorted, or merged, in one step. */
const STEP_ITEMS = 512;

type Item<V> = readonly [path: string, value: V];

/** The entries of a map in the order of their keys by UTF-8, in steps of some milliseconds. */
export function* sortingByPath<V>(
  map: ReadonlyMap<string, V>,
): Generator<undefined, readonly Item<V>[]> {
  const order = new KeyOrder();
  for (const path of map.keys()) order.note(path);
  const compare = ([a]: Item<V>, [b]: Item<V>): number => order.compare(a, b);
  const items = [...map];
  let rows: Item<V>[][] = [];
  for (let at = 0; at < items.length; at += STEP_ITEMS) {
    rows.push(items.slice(at, at + STEP_ITEMS).sort(compare));
    yield;
  }
  while (rows.length > 1) {
    const longer: Item<V>[][] = [];
    for (let at = 0; at < rows.length; at += 2) {
      longer.push(yield* joining(rows[at] ?? [], rows[at + 1] ?? [], compare));
    }
    rows = longer;
  }
  return rows[0] ?? [];
}

function* joining<T>(
  one: readonly T[],
  other: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<undefined, T[]> {
  const joined: T[] = [];
  let at = 0;
  for (const item of one) {
    for (let next = other[at]; next !== undefined && compare(next, item) < 0; next = other[at]) {
      joined.push(next);
      at += 1;
    }
    joined.push(item);
    if (joined.length % STEP_ITEMS === 0) yield;
  }
  for (; at < other.length; at++) joined.push(other[at] as T);
  return joined;
}
