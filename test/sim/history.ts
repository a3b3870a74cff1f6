/**
 * What the clients of a simulated world called and were answered: with the bucket, all that the
 * oracle may know. Times are the simulation's own, in ms, which no store can see.
 */

/** One change as a client asked for it. */
export interface CalledMutation {
  readonly kind: 'publish' | 'append' | 'archive';
  readonly path: string;
  /** Of a publish or an append. */
  readonly body: string;
  readonly metadata: { readonly [key: string]: string } | null;
  /** Of an archive: what it shall be. */
  readonly archived: boolean;
  readonly expected: number | 'any' | 'absent' | { readonly etag: string };
  /** A precondition: another document is at this version (0: absent) where the change commits. */
  readonly requires: { readonly path: string; readonly version: number } | null;
}

/** What a client was told of one change that was taken. */
export interface TakenMutation {
  readonly path: string;
  readonly version: number;
  readonly etag: string;
  readonly archived: boolean;
  /** false: nothing to commit. */
  readonly committed: boolean;
  readonly sequence: number | null;
}

export type WriteOutcome =
  | { readonly kind: 'taken'; readonly taken: readonly TakenMutation[] }
  /** *Not committed*. `currentVersion` as a conflict tells it. */
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      readonly currentVersion: number | null;
    }
  | { readonly kind: 'unknown'; readonly after: number; readonly message: string }
  /** It is in the log, and its first answer cannot be read back any more. */
  | { readonly kind: 'too old' }
  /** An error that says neither, which is a violation. */
  | { readonly kind: 'unclear'; readonly message: string };

export interface WriteCall {
  readonly kind: 'write';
  readonly process: string;
  readonly op: string;
  readonly mutations: readonly CalledMutation[];
  readonly called: number;
  /** null: the process crashed first. */
  readonly returned: number | null;
  readonly outcome: WriteOutcome | null;
}

/** A read of a view. */
export interface ReadCall {
  readonly what: 'get' | 'versions' | 'isDir' | 'list' | 'hash';
  /** A path; for `hash` a body hash (`sha256-…`). */
  readonly path: string;
  readonly called: number;
  readonly returned: number | null;
  /** null: crashed, or failed with an error that is no answer (unavailable, expired). */
  readonly answer: ReadAnswer | null;
}

export type ReadAnswer =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'document';
      readonly version: number;
      readonly etag: string;
      readonly archived: boolean;
      readonly body: string;
    }
  /** Newest first. */
  | { readonly kind: 'versions'; readonly etags: readonly string[] }
  | { readonly kind: 'directory'; readonly isDir: boolean }
  /** Names of children; a directory's ends in a slash. */
  | { readonly kind: 'names'; readonly names: readonly string[] }
  | { readonly kind: 'path'; readonly path: string };

/** The reads of one view, in order. */
export interface ViewCall {
  readonly kind: 'view';
  readonly process: string;
  /** The first read chose the state: exact for a path read, at most a second old otherwise. */
  readonly reads: readonly ReadCall[];
  /** Whether the process was paused, or its clocks jumped, while the view was open. */
  readonly disturbed: boolean;
}

/** A question what became of an *unknown*. */
export interface OperationCall {
  readonly kind: 'operation';
  readonly process: string;
  readonly op: string;
  readonly after: number;
  readonly called: number;
  readonly returned: number | null;
  readonly answer:
    | { readonly kind: 'committed'; readonly taken: readonly TakenMutation[] }
    | { readonly kind: 'not committed' }
    | { readonly kind: 'too old' }
    | { readonly kind: 'open' }
    | { readonly kind: 'failed'; readonly message: string }
    | null;
}

export type Call = WriteCall | ViewCall | OperationCall;

/** Something that must never be. */
export interface Violation {
  /** The rule: an invariant's number, or `exactly once`, `linearizable`, `outcome`, `unknown`. */
  readonly rule: string;
  readonly detail: string;
}
