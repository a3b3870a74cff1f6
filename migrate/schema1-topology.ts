/**
 * The paths of a world: no document lies below another.
 *
 * MEMORY. Each path once, with its version: about 150 bytes for a document with a usual path,
 * however deep it lies, and 8 bytes more while they are held against each other. That takes
 * comparisons of neighbours alone: with `/` as the lowest of characters, what lies below a document
 * comes right behind it.
 */
import { SLASH } from '../bucketstore/base/ascii.ts';
import { assert } from '../bucketstore/base/assert.ts';

/** A document that lies below another. */
export interface Schema1Collision {
  readonly path: string;
  /** The topmost document above it. */
  readonly above: string;
}

export class Schema1Topology {
  /** Current version by path. */
  readonly #versions = new Map<string, number>();

  /** Documents taken. */
  get size(): number {
    return this.#versions.size;
  }

  /** The current version of a document; undefined when there is none. */
  versionOf(path: string): number | undefined {
    return this.#versions.get(path);
  }

  /** Takes a document. None comes twice: a path has one shard, and paths ascend in it. */
  add(path: string, version: number): void {
    assert(!this.#versions.has(path), () => `${path} comes twice`);
    this.#versions.set(path, version);
  }

  /** Every document that lies below another, of all that were taken. */
  *collisions(): Generator<Schema1Collision> {
    let above: string | null = null;
    for (const path of [...this.#versions.keys()].sort(compareTopology)) {
      if (above !== null && isBelow(path, above)) yield { path, above };
      else above = path;
    }
  }
}

function isBelow(path: string, above: string): boolean {
  return path.charCodeAt(above.length) === SLASH && path.startsWith(above);
}

/** An order in which no path comes between a document and what lies below it. */
function compareTopology(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    if (x === SLASH) return -1;
    return y === SLASH ? 1 : x - y;
  }
  return a.length - b.length;
}
