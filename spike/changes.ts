/** Changes of a seeded world, spread over all of its documents, and how large they are. */

import type { Sequence } from '../bucketstore/base/sequence.ts';
import { parseHash } from '../bucketstore/document/body.ts';
import type { World } from '../bucketstore/index.ts';
import { encodeIndexEntry } from '../checkpoint/index-entry.ts';
import { entryBytes } from '../checkpoint/table-entry.ts';
import type { SeededRandom } from '../test/support/seeded-random.ts';
import { Acknowledged } from './acknowledged.ts';
import type { ChangedBytes } from './changed-bytes.ts';
import type { Machine } from './machine.ts';
import { Samples } from './measure.ts';
import type { SeedDocuments } from './seed-documents.ts';
import { type Failures, REFUSED_PAUSE_MS } from './traffic.ts';

export interface ChangesParts {
  readonly machine: Machine;
  readonly world: World;
  readonly documents: SeedDocuments;
  readonly keys: SeededRandom;
  readonly failures: Failures;
  readonly deadlineMs: number;
  readonly changed: ChangedBytes;
  /** Whether whoever changes sends the next change when this one is answered. */
  readonly loops: boolean;
}

export class Changes {
  readonly samples: Samples = new Samples();
  readonly acknowledged: Acknowledged = new Acknowledged();
  readonly #parts: ChangesParts;
  /** Another one for each change, of this run and of earlier ones. */
  #revision: number;

  constructor(parts: ChangesParts) {
    this.#parts = parts;
    this.#revision = 1 + Math.floor(parts.machine.clock.now() % 2 ** 31);
  }

  /** One change, measured from when it was due; notes what became of it. */
  async change(startMs: number, dueMs: number): Promise<void> {
    const { machine, world, documents, keys, failures, deadlineMs } = this.#parts;
    const { clock } = machine;
    const index = keys.integer(documents.count);
    const { path, metadata, body } = documents.document(index, this.#revision++);
    try {
      const request = { path, expected: 'any', body, metadata } as const;
      const { op, document, sequence } = await world.publish(request, { deadlineMs });
      const nowMs = clock.monotonic();
      this.samples.add(nowMs - startMs, nowMs - dueMs);
      this.acknowledged.add(op);
      if (sequence !== null) this.#note(index, document, sequence);
    } catch (error) {
      failures.note(error);
      if (this.#parts.loops) await clock.sleep(REFUSED_PAUSE_MS);
    }
  }

  /** What the document's entry is now. */
  #note(
    index: number,
    {
      path,
      metadata,
      version,
      bodyHash,
      etag,
      modified,
    }: Awaited<ReturnType<World['publish']>>['document'],
    sequence: Sequence,
  ): void {
    const current = {
      version,
      storedHash: etag,
      bodyHash: parseHash(bodyHash) ?? '',
      modified: Date.parse(modified) / 1000,
      at: { seq: sequence },
    };
    const catalog = { title: metadata?.['title'] ?? '', metadata };
    const json = encodeIndexEntry({ path, current, first: 1, archived: false, catalog }, 1);
    this.#parts.changed.add(sequence, index, entryBytes(Buffer.byteLength(path), json.length));
  }
}
