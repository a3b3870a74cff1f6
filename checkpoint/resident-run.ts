/** One run as a state holds it: its manifest, its columns, and a filter of its paths. */
import { compareUtf8 } from '../bucketstore/base/order.ts';
import type { PathFilter } from './path-filter.ts';
import type { ResidentColumns } from './resident.ts';
import type { RunManifest } from './run-manifest.ts';

/** Immutable but for the place where it was last looked into, which changes no answer. */
export class ResidentRun {
  /** Key of its manifest, for errors. */
  readonly key: string;
  readonly manifest: RunManifest;
  readonly columns: ResidentColumns;
  /** Of the paths, and of the directories above them. */
  readonly filter: PathFilter;
  /** The last look: no row before `#row` has a path at or after `#asked`. */
  #asked: string | null = null;
  #row = 0;
  #path = '';

  constructor(key: string, manifest: RunManifest, columns: ResidentColumns, filter: PathFilter) {
    this.key = key;
    this.manifest = manifest;
    this.columns = columns;
    this.filter = filter;
  }

  /** Bytes that it keeps in memory. */
  get bytes(): number {
    return this.columns.bytes + this.filter.bytes;
  }

  /**
   * The first row whose path is at or after `path` by bytes, null when there is none. Listings ask
   * for one path after another: mostly it is where the last look ended, or one row on.
   */
  from(path: string): { readonly row: number; readonly path: string } | null {
    if (!this.#isHere(path)) {
      this.#row = this.columns.lowerBound(path);
      this.#asked = path;
      this.#path = this.#row < this.columns.rows ? this.columns.path(this.#row) : '';
    }
    return this.#row < this.columns.rows ? { row: this.#row, path: this.#path } : null;
  }

  /** Whether the last look, or a step from it, is the answer for a path too. */
  #isHere(path: string): boolean {
    const { rows } = this.columns;
    if (this.#asked === null || compareUtf8(this.#asked, path) > 0) return false;
    if (this.#row === rows || compareUtf8(path, this.#path) <= 0) return true;
    const next = this.#row + 1;
    const after = next < rows ? this.columns.path(next) : '';
    if (next < rows && compareUtf8(path, after) > 0) return false;
    this.#asked = path;
    this.#row = next;
    this.#path = after;
    return true;
  }
}
