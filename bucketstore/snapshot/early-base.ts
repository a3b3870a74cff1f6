/**
 * A checkpoint of which single documents can be read before its state is in memory: what a cold
 * start answers its first reads from.
 */
import type { CallOptions } from '../../blob/index.ts';
import type { CheckpointRecord, Start } from '../log/records.ts';
import type { DocumentState } from './state.ts';

/** The documents of a checkpoint, one by one. Immutable. */
export interface EarlyBase {
  /** Inlined versions up to here lie in packs. */
  readonly packedThrough: number;
  /**
   * What the checkpoint has at a canonical path, archived or not; null for nothing.
   * @throws StoreError `INTEGRITY` naming what is missing or damaged; `UNAVAILABLE`, `LOCATION`
   */
  document(path: string, options: CallOptions): Promise<DocumentState | null>;
}

/** Where they come from. A load of the same checkpoint that follows reads nothing twice. */
export interface EarlySource {
  /** @throws StoreError `INTEGRITY` when what says where its documents lie does not verify */
  open(record: CheckpointRecord, options: CallOptions): Promise<EarlyBase>;
  /** The same of the checkpoint that a marker is; one without a root has nothing. */
  openStart(start: Start, options: CallOptions): Promise<EarlyBase>;
}

/** What a marker without a root starts from. */
export function emptyEarlyBase(start: Start): EarlyBase {
  return { packedThrough: start.sequence, document: async () => null };
}
