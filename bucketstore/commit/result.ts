/** What a request for a change is answered with. */
import type { Sequence } from '../base/sequence.ts';
import type { Document, DocumentInfo } from '../snapshot/reader.ts';

/** The answer to a publish or an append. */
export interface WriteResult {
  /** false: the document already was what the write would have made it, and nothing was written. */
  readonly committed: boolean;
  /** The operation's ID: the same request repeated with it gets this answer again. */
  readonly op: string;
  /** The entry's place in the log; null when nothing was committed. */
  readonly sequence: Sequence | null;
  readonly document: Document;
  /** Versions that this write pruned, oldest and newest. */
  readonly pruned: readonly [oldest: number, newest: number] | null;
}

/** The answer to an archive or an unarchive. */
export interface ArchiveResult {
  readonly committed: boolean;
  readonly op: string;
  readonly sequence: Sequence | null;
  readonly document: DocumentInfo;
}

export type MutationResult = WriteResult | ArchiveResult;
