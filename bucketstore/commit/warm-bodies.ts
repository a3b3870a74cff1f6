/**
 * What the requests in the queue will ask the bucket for, read while they wait, so that building
 * does not wait for one read after another: the stored version that an append adds to, and what a
 * checkpoint has of the documents that are appended to, archived or brought back.
 *
 * Reading ahead never takes the last places of the commit lane, which slots and their blobs need.
 */
import type { CallOptions } from '../../blob/index.ts';
import { createLimit } from '../base/limit.ts';
import type { BodySource } from '../snapshot/body-reader.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { DocumentState, VersionRecord } from '../snapshot/state.ts';
import { Flights } from './flights.ts';
import type { Member } from './member.ts';

type Waiting = Pick<Member, 'mutations' | 'onAnswered' | 'isAnswered'>;

interface Ahead {
  /** Stored versions by hash. */
  readonly bodies: Flights<Uint8Array>;
  /** Documents of checkpoints by path. */
  readonly documents: Flights<DocumentState | undefined>;
}

export class WarmBodies implements BodySource {
  readonly #below: BodySource;
  /** null: there is never a free place. */
  readonly #ahead: Ahead | null;

  /** @param atOnce how many reads may be ahead at once; 0 for none */
  constructor(below: BodySource, atOnce: number) {
    this.#below = below;
    this.#ahead = atOnce < 1 ? null : aheadWithin(atOnce);
  }

  /** Reads that are ahead, or wait for a place to be (I17). */
  get size(): number {
    const { bodies, documents } = this.#ahead ?? {};
    return (bodies?.size ?? 0) + (documents?.size ?? 0);
  }

  /**
   * Begins to read what a request will ask for. What fails is met again when the request is judged.
   * At most one `get` for each stored version, and two for each document of a checkpoint, whoever
   * else waits for them.
   */
  warm(state: Snapshot, request: Waiting): void {
    const ahead = this.#ahead;
    if (ahead === null) return;
    for (const { kind, path } of request.mutations) {
      if (kind === 'publish' || state.head(path) === undefined) continue;
      const details = state.changedDetails(path);
      if (details === null) this.#warmDocument(ahead, state, path, kind, request);
      else if (kind === 'append') this.#warmBody(ahead, state, details.current, request);
    }
  }

  /** As the source below; shares a read of the same version that has begun. */
  async read(
    snapshot: Snapshot,
    record: VersionRecord,
    options: CallOptions = {},
  ): Promise<Uint8Array> {
    const known = await this.#ahead?.bodies.begun(record.storedHash, options.signal);
    return known ?? this.#below.read(snapshot, record, options);
  }

  readUnverified(
    snapshot: Snapshot,
    record: VersionRecord,
    options?: CallOptions,
  ): Promise<Uint8Array> {
    return this.#below.readUnverified(snapshot, record, options);
  }

  #warmBody({ bodies }: Ahead, state: Snapshot, record: VersionRecord, request: Waiting): void {
    const read = (signal: AbortSignal) => {
      return this.#below.read(state, record, { signal, lane: 'commit' });
    };
    bodies.join(record.storedHash, request, read).catch(() => undefined);
  }

  #warmDocument(
    ahead: Ahead,
    state: Snapshot,
    path: string,
    kind: 'append' | 'archive',
    request: Waiting,
  ): void {
    // It stays in the cache that the state reads through.
    const read = async (signal: AbortSignal) => state.document(path, { signal, lane: 'commit' });
    const reading = ahead.documents.join(path, request, read).then((document) => {
      if (kind !== 'append' || document === undefined || request.isAnswered) return;
      this.#warmBody(ahead, state, document.current, request);
    });
    reading.catch(() => undefined);
  }
}

function aheadWithin(atOnce: number): Ahead {
  const limit = createLimit(atOnce);
  return { bodies: new Flights(limit), documents: new Flights(limit) };
}
