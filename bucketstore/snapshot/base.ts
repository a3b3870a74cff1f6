/**
 * The documents at the checkpoint that a state was loaded from, as the state asks for them. What
 * every question needs is in memory; the rest is read when it is asked for. Immutable.
 */
import type { CallOptions } from '../../blob/index.ts';
import type { DocumentDetails, DocumentHead, VersionRecord } from './state.ts';

/** A document's place among others. */
export interface PlacedDocument {
  readonly path: string;
  readonly archived: boolean;
}

export interface BaseState {
  /** The checkpoint's. */
  readonly sequence: number;
  /** Documents, archived ones included. */
  readonly documents: number;
  /** Inlined versions up to here lie in packs; what is behind it lies in slots alone. */
  readonly packedThrough: number;
  head(path: string): DocumentHead | undefined;
  /**
   * Documents from the first path at or after `path` on, in byte order.
   * @param within a directory and a slash: what is not under it may be left out
   */
  from(path: string, within?: string): Iterator<PlacedDocument>;
  /** Live paths whose body has a hash (64 hex), in byte order. */
  livePaths(bodyHash: string): Iterable<string>;
  /**
   * What else there is of a document that has a head.
   * @throws StoreError `INTEGRITY` naming what is damaged; `UNAVAILABLE`, `LOCATION`
   */
  details(path: string, options: CallOptions): Promise<DocumentDetails>;
  /**
   * Versions of a document, newest first, also such as are retained no more.
   * @throws StoreError as `details`
   */
  versions(path: string, options: CallOptions): Promise<readonly VersionRecord[]>;
}

const NOTHING: Iterator<PlacedDocument> & Iterable<never> = {
  next: () => ({ done: true, value: undefined }),
  [Symbol.iterator]: () => [][Symbol.iterator](),
};

/** What a world begins with. */
export const EMPTY_BASE: BaseState = {
  sequence: 0,
  documents: 0,
  packedThrough: 0,
  head: () => undefined,
  from: () => NOTHING,
  livePaths: () => NOTHING,
  details: async (path) => {
    throw new TypeError(`${path} is in no checkpoint`);
  },
  versions: async () => [],
};
