/**
 * Objects as plain files: how a `file:` location has them when their keys are of letters, digits,
 * dots and dashes, as all keys of the old store are. Nothing is synced; this is for tests.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OldObject } from './objects.ts';

/** Writes objects below a directory, over what has their names. Answers how many. */
export function placeAll(directory: string, objects: Iterable<OldObject>): number {
  const made = new Set<string>();
  let count = 0;
  for (const { key, bytes } of objects) {
    const path = join(directory, key);
    const parent = dirname(path);
    if (!made.has(parent)) {
      mkdirSync(parent, { recursive: true });
      made.add(parent);
    }
    writeFileSync(path, bytes);
    count++;
  }
  return count;
}
