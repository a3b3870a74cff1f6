/**
 * The paths of a world, taken one by one: none is there twice, and none lies below another. Keeps
 * all of them: about 150 bytes for a document with a usual path.
 */
import { ancestors } from '../bucketstore/document/path.ts';

export class Schema1Topology {
  /** Current version by path. */
  readonly #versions = new Map<string, number>();
  /** A document below each directory. */
  readonly #below = new Map<string, string>();

  /** Documents taken, each path once. */
  get size(): number {
    return this.#versions.size;
  }

  /** The current version of a document; undefined when there is none. */
  versionOf(path: string): number | undefined {
    return this.#versions.get(path);
  }

  /** Takes a document; what is wrong with its path beside those before it, or null. */
  add(path: string, version: number): string | null {
    if (this.#versions.has(path)) return `${path}: there twice`;
    this.#versions.set(path, version);
    const child = this.#below.get(path);
    let problem = child === undefined ? null : `${child}: lies below the document ${path}`;
    for (const directory of ancestors(path)) {
      if (this.#versions.has(directory))
        problem ??= `${path}: lies below the document ${directory}`;
      if (!this.#below.has(directory)) this.#below.set(directory, path);
    }
    return problem;
  }
}
