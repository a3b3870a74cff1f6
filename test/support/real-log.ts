/**
 * A world whose log is written without a store, fast: random mutations with stored versions that
 * are real ones, in slots and in blobs, and control entries between them.
 */

import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { type Sequence, sequence } from '../../bucketstore/base/sequence.ts';
import { bodyHash } from '../../bucketstore/document/body.ts';
import { catalogOf } from '../../bucketstore/document/catalog.ts';
import type { Metadata } from '../../bucketstore/document/metadata.ts';
import { storeVersion } from '../../bucketstore/document/stored.ts';
import { encodeMarker, genesisMarker } from '../../bucketstore/log/marker.ts';
import { blobKey, MARKER_KEY, slotKey } from '../../bucketstore/log/names.ts';
import type { ControlEntry, Entry, Marker, Start } from '../../bucketstore/log/records.ts';
import { decodeSlot, encodeSlot, type SlotBody } from '../../bucketstore/log/slot.ts';
import { applyEntry, applySlot } from '../../bucketstore/snapshot/apply.ts';
import { SnapshotDraft } from '../../bucketstore/snapshot/draft.ts';
import { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import { archive, INCARNATION, STORE, WORLD, write } from '../log/values.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { WorldBench } from './world-bench.ts';

export interface RealLogPlan {
  readonly paths: number;
  /** Entries of a slot. */
  readonly batch: number;
  /** Of a hundred mutations, how many are of one document. */
  readonly hot: number;
}

interface Made {
  readonly entry: Entry;
  readonly body: SlotBody | null;
}

export class RealLog {
  marker: Marker = genesisMarker(WORLD, INCARNATION);
  /** First sequences of the slots. */
  readonly slots: Sequence[] = [];
  readonly #bench: WorldBench;
  readonly #random: SeededRandom;
  readonly #plan: RealLogPlan;
  #state: Snapshot;

  constructor(bench: WorldBench, random: SeededRandom, plan: RealLogPlan) {
    this.#bench = bench;
    this.#random = random;
    this.#plan = plan;
    this.#state = Snapshot.atStart(this.marker, sha256Hex(encodeMarker(this.marker)));
  }

  /** The state at the end, replayed. */
  get state(): Snapshot {
    return this.#state;
  }

  async begin(): Promise<void> {
    await this.#bench.put(MARKER_KEY, encodeMarker(this.marker));
  }

  /** Another life of what there is now: the next slot is its first. */
  async restart(start: Start): Promise<void> {
    this.marker = { ...this.marker, start };
    const bytes = encodeMarker(this.marker);
    await this.#bench.put(MARKER_KEY, bytes);
    const { tip, control } = Snapshot.atStart(this.marker, sha256Hex(bytes));
    this.#state = new Snapshot({ ...this.#state.copyParts(), tip, control });
    this.slots.length = 0;
  }

  /** Slots of mutations until the log reaches a sequence. */
  async writeTo(through: number): Promise<void> {
    while (this.#state.tip.sequence < through) {
      const draft = new SnapshotDraft(this.#state);
      const made: Made[] = [];
      for (let tries = 0; tries < this.#plan.batch; tries++) {
        const at = sequence(this.#state.tip.sequence + 1 + made.length);
        const one = await this.#mutation(draft, at);
        if (applyEntry(draft, one.entry, at) === null) made.push(one);
      }
      await this.#append(made, draft.documentCount);
    }
  }

  /**
   * A slot with the next version of one document.
   * @param odd bytes in the place of its stored version, under their own hash
   */
  async write(path: string, odd?: string): Promise<void> {
    const draft = new SnapshotDraft(this.#state);
    const at = sequence(this.#state.tip.sequence + 1);
    const head = draft.head(path);
    const version = (head?.version ?? 0) + 1;
    const previousHash = head?.storedHash ?? null;
    const body = Buffer.from(path);
    const right = storeVersion({ version, previousHash, metadata: null, body });
    const bytes = odd === undefined ? right : Buffer.from(odd);
    const entry = write(at, {
      ...{ path, version, first: head?.first ?? 1, bodyHash: bodyHash(body) },
      ...{ storedHash: sha256Hex(bytes), catalog: catalogOf(null, body, path), at: 'slot' },
    });
    const problem = applyEntry(draft, entry, at);
    if (problem !== null) throw new Error(problem);
    await this.#append([{ entry, body: { sequence: at, bytes } }], draft.documentCount);
  }

  async control(entry: ControlEntry): Promise<void> {
    await this.#append([{ entry, body: null }], this.#state.documentCount);
  }

  async #mutation(draft: SnapshotDraft, at: Sequence): Promise<Made> {
    const random = this.#random;
    const isHot = random.integer(100) < this.#plan.hot;
    const name = random.integer(this.#plan.paths);
    const path = isHot ? '/hot.md' : `/d${name % 7}/${name % 3 === 0 ? 'x/' : ''}doc-${name}.md`;
    const head = draft.head(path);
    if (!isHot && head !== undefined && (head.archived || random.integer(12) === 0)) {
      const { version, first, archived } = head;
      return { entry: archive(at, { path, version, first, archived: !archived }), body: null };
    }
    const version = (head?.version ?? 0) + 1;
    const keeps = !isHot && random.integer(6) === 0 ? 1 + random.integer(4) : version;
    const first = Math.max(head?.first ?? 1, version - keeps + 1);
    const metadata: Metadata | null = random.integer(5) === 0 ? { tags: 'a,b', owner: 'x' } : null;
    const body = Buffer.from(`# Title ${version} of ${name}\n\nbody ${random.integer(60)}\n`);
    const bytes = storeVersion({ version, previousHash: head?.storedHash ?? null, metadata, body });
    const entry = write(at, {
      ...{ path, version, first, bodyHash: bodyHash(body), storedHash: sha256Hex(bytes) },
      catalog: catalogOf(metadata, body, path),
      at: 'slot',
    });
    if (random.integer(12) > 0) return { entry, body: { sequence: at, bytes } };
    const { epoch } = draft.control;
    await this.#bench.put(blobKey(epoch, entry.storedHash), bytes);
    return { entry: { ...entry, at: { epoch } }, body: null };
  }

  async #append(made: readonly Made[], documents: number): Promise<void> {
    const { tip, control } = this.#state;
    const first = sequence(tip.sequence + 1);
    const { bytes } = encodeSlot({
      ...{ worldId: WORLD, incarnationId: INCARNATION, store: STORE },
      ...{ first, time: tip.time + 1, documents, prev: tip.hash, epoch: control.epoch },
      entries: made.map(({ entry }) => entry),
      bodies: made.flatMap(({ body }) => (body === null ? [] : [body])),
    });
    const { slot, hash } = decodeSlot(slotKey(first), bytes);
    this.#state = applySlot(this.#state, slot, hash);
    this.slots.push(first);
    await this.#bench.put(slotKey(first), bytes);
  }
}
