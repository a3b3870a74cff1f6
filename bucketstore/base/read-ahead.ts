/** Reading ahead: several reads at once, their results in the order of the source. */

/**
 * What `read` makes of each item, in order, with at most `ahead` reads under way. A failed read is
 * thrown when its turn comes. Leaving the loop ends the source; reads under way are left to end by
 * themselves.
 */
export async function* readAhead<T, R>(
  source: AsyncIterable<T> | Iterable<T>,
  ahead: number,
  read: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const running: Promise<R>[] = [];
  for await (const item of source) {
    const reading = read(item);
    // Met when its turn comes; until then it must not count as unhandled.
    reading.catch(() => undefined);
    running.push(reading);
    if (running.length >= ahead) {
      const first = running.shift();
      if (first !== undefined) yield await first;
    }
  }
  for (const reading of running) yield await reading;
}
