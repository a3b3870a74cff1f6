/** What the ghost log knows of a document, a version and an entry. */
import { Changes } from './changes.ts';

/** A document from one sequence to the next change of it. */
export interface GhostState {
  readonly version: number;
  /** The stored hash of the version. */
  readonly etag: string;
  readonly archived: boolean;
  /** The oldest retained version. */
  readonly first: number;
}

export interface GhostVersion {
  readonly version: number;
  readonly sequence: number;
  readonly etag: string;
  readonly bodyHash: string;
  readonly body: Uint8Array;
  /** As its entry says it, seconds. */
  readonly modified: number;
  /** As its entry says it. */
  readonly title: string;
  readonly metadata: { readonly [key: string]: string } | null;
  /** The key of its blob; null when it is inlined. */
  readonly blob: string | null;
}

export class GhostDocument {
  readonly path: string;
  readonly states: Changes<GhostState> = new Changes();
  /** Every version ever written. */
  readonly versions: Map<number, GhostVersion> = new Map();

  constructor(path: string) {
    this.path = path;
  }

  get state(): GhostState | undefined {
    return this.states.last;
  }

  /** ETags of the versions that a state retains, newest first. */
  retained(state: GhostState): string[] {
    const etags: string[] = [];
    for (let version = state.version; version >= state.first; version--) {
      etags.push(this.versions.get(version)?.etag ?? '');
    }
    return etags;
  }
}

/** An entry of the genuine log that changed a document. */
export interface GhostEntry {
  readonly kind: 'write' | 'archive';
  readonly verb: string | null;
  readonly op: string;
  readonly sequence: number;
  /** The first sequence of its slot. */
  readonly slot: number;
  readonly path: string;
  readonly version: number;
  readonly etag: string;
  readonly archived: boolean;
  /** Entries of its group, on the first; else 1. */
  readonly group: number;
}

/** A genuine slot as the checks ask for it. */
export interface GhostSlot {
  readonly first: number;
  readonly last: number;
  readonly hash: string;
  readonly time: number;
  readonly documents: number;
  /** The epoch after it. */
  readonly epoch: number;
  /** True time at which it landed, ms. */
  readonly at: number;
  readonly bytes: number;
  readonly inlinedBytes: number;
  readonly seal: boolean;
}
