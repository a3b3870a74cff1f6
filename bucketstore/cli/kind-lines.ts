/** What there is of each kind of object. */

interface Count {
  readonly objects: number;
  readonly bytes: number;
}

/** A line for each kind that there is anything of, in the order of `words`. */
export function kindLines<K extends string>(
  words: Readonly<Record<K, string>>,
  counts: Readonly<Record<K, Count>>,
  line: (count: Count, word: string, kind: K) => string,
): readonly string[] {
  const kinds = Object.keys(words) as K[];
  return kinds
    .filter((kind) => counts[kind].objects > 0)
    .map((kind) => line(counts[kind], words[kind], kind));
}
