/**
 * Stored versions that have been built and are not committed, in front of those in the bucket.
 */
import type { CallOptions } from '../../blob/index.ts';
import type { BodySource } from '../snapshot/body-reader.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { VersionRecord } from '../snapshot/state.ts';

/** Holds no more than the batches that are built ahead do. */
export class PendingBodies implements BodySource {
  readonly #committed: BodySource;
  readonly #served: () => Snapshot;
  readonly #pending = new Map<string, { readonly stored: Uint8Array; holders: number }>();

  /** @param served the state of now: what was pending a moment ago may be committed */
  constructor(committed: BodySource, served: () => Snapshot) {
    this.#committed = committed;
    this.#served = served;
  }

  /** Versions held now (I17). */
  get size(): number {
    return this.#pending.size;
  }

  /** Two documents may have the very same version, so each `add` needs its `drop`. */
  add(storedHash: string, stored: Uint8Array): void {
    const held = this.#pending.get(storedHash);
    if (held === undefined) this.#pending.set(storedHash, { stored, holders: 1 });
    else held.holders += 1;
  }

  /** The version is committed, and found where the log says. */
  drop(storedHash: string): void {
    const held = this.#pending.get(storedHash);
    if (held === undefined) return;
    held.holders -= 1;
    if (held.holders === 0) this.#pending.delete(storedHash);
  }

  async read(
    snapshot: Snapshot,
    record: VersionRecord,
    options?: CallOptions,
  ): Promise<Uint8Array> {
    const pending = this.#pending.get(record.storedHash)?.stored;
    return pending ?? this.#committed.read(this.#stateWith(snapshot, record), record, options);
  }

  async readUnverified(
    snapshot: Snapshot,
    record: VersionRecord,
    options?: CallOptions,
  ): Promise<Uint8Array> {
    const pending = this.#pending.get(record.storedHash)?.stored;
    if (pending !== undefined) return pending;
    return this.#committed.readUnverified(this.#stateWith(snapshot, record), record, options);
  }

  /** A state that knows the slot of a version: one lent before its commit does not. */
  #stateWith(lent: Snapshot, { at }: VersionRecord): Snapshot {
    return 'seq' in at && at.seq > lent.tip.sequence ? this.#served() : lent;
  }
}
