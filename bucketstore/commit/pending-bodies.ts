/**
 * Stored versions that a batch has built and nobody can read yet, in front of those in the bucket.
 */
import type { CallOptions } from '../../blob/index.ts';
import type { BodySource } from '../snapshot/body-reader.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { VersionRecord } from '../snapshot/state.ts';

/** Lives as long as its batch, and holds no more than the batch does. */
export class PendingBodies implements BodySource {
  readonly #committed: BodySource;
  readonly #pending = new Map<string, Uint8Array>();

  constructor(committed: BodySource) {
    this.#committed = committed;
  }

  add(storedHash: string, stored: Uint8Array): void {
    this.#pending.set(storedHash, stored);
  }

  async read(
    snapshot: Snapshot,
    record: VersionRecord,
    options?: CallOptions,
  ): Promise<Uint8Array> {
    const pending = this.#pending.get(record.storedHash);
    return pending ?? this.#committed.read(snapshot, record, options);
  }

  async readUnverified(
    snapshot: Snapshot,
    record: VersionRecord,
    options?: CallOptions,
  ): Promise<Uint8Array> {
    const pending = this.#pending.get(record.storedHash);
    return pending ?? this.#committed.readUnverified(snapshot, record, options);
  }
}
