/** What a request for a change is answered with. */
import type { Sequence } from '../base/sequence.ts';
import { bodyHash, formatHash } from '../document/body.ts';
import type { Document, DocumentInfo } from '../snapshot/reader.ts';
import type { Mutation } from './mutation.ts';

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

/**
 * Whether results that were read back from the log are those of a request with the same operation:
 * each is of a document it names, of the same kind, and for a publish of the same body.
 */
export function answersRequest(
  results: readonly MutationResult[],
  mutations: readonly Mutation[],
): boolean {
  return results.every((result) => mutations.some((mutation) => isAnswer(result, mutation)));
}

function isAnswer(result: MutationResult, mutation: Mutation): boolean {
  const { path, bodyHash: hash, archived } = result.document;
  if (mutation.path !== path) return false;
  if (mutation.kind === 'archive') return !('pruned' in result) && mutation.archived === archived;
  if (!('pruned' in result)) return false;
  return mutation.kind === 'append' || formatHash(bodyHash(mutation.content)) === hash;
}
