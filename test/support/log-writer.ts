/**
 * A log as the format has it, written without a store: random mutations of few paths, groups of any
 * size, control entries between them. For proofs about what is derived from a log.
 */
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { type Sequence, sequence } from '../../bucketstore/base/sequence.ts';
import type { ReadSlot } from '../../bucketstore/log/log.ts';
import { genesisMarker } from '../../bucketstore/log/marker.ts';
import { slotKey } from '../../bucketstore/log/names.ts';
import type { ControlEntry, Entry, Marker } from '../../bucketstore/log/records.ts';
import { decodeSlot, encodeSlot } from '../../bucketstore/log/slot.ts';
import { applyEntry, applySlot } from '../../bucketstore/snapshot/apply.ts';
import { SnapshotDraft } from '../../bucketstore/snapshot/draft.ts';
import { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import { archive, hashOf, INCARNATION, inlined, slotInput, WORLD, write } from '../log/values.ts';
import type { SeededRandom } from './seeded-random.ts';

export interface LogPlan {
  /** Entries of a slot at most. */
  readonly batch: number;
  readonly paths: number;
  /** Of a hundred writes, how many are staged. */
  readonly staged?: number;
}

export class LogWriter {
  readonly marker: Marker = genesisMarker(WORLD, INCARNATION);
  readonly markerHash: string = hashOf(7);
  readonly slots: ReadSlot[] = [];
  readonly #random: SeededRandom;
  readonly #plan: LogPlan;
  #state: Snapshot;

  constructor(random: SeededRandom, plan: LogPlan) {
    this.#random = random;
    this.#plan = plan;
    this.#state = Snapshot.atStart(this.marker, this.markerHash);
  }

  /** The state at the end, replayed from the start. */
  get state(): Snapshot {
    return this.#state;
  }

  /** The state at the end of a slot, replayed from the start. */
  stateAt(through: Sequence): Snapshot {
    let state = Snapshot.atStart(this.marker, this.markerHash);
    for (const { slot, hash } of this.slots) {
      if (slot.last <= through) state = applySlot(state, slot, hash);
    }
    return state;
  }

  /** Slots of mutations until the log reaches a sequence. */
  writeTo(through: number): void {
    while (this.#state.tip.sequence < through) this.#mutations();
  }

  control(entry: ControlEntry): void {
    this.#append([entry], []);
  }

  #mutations(): void {
    const draft = new SnapshotDraft(this.#state);
    const entries: Entry[] = [];
    const texts: string[] = [];
    for (let left = 1 + this.#random.integer(this.#plan.batch); left > 0; left--) {
      const at = sequence(this.#state.tip.sequence + 1 + entries.length);
      const [entry, text] = this.#mutation(draft, at);
      if (applyEntry(draft, entry, at) !== null) continue;
      entries.push(entry);
      if (text !== null) texts.push(text);
    }
    if (entries.length > 0) this.#append(entries, texts);
  }

  #mutation(draft: SnapshotDraft, at: Sequence): readonly [Entry, string | null] {
    const random = this.#random;
    const name = random.integer(this.#plan.paths);
    const path = `/d${name % 7}/${name % 3 === 0 ? 'x/' : ''}document-${name}.md`;
    const head = draft.head(path);
    if (head !== undefined && (head.archived || random.integer(12) === 0)) {
      const { version, first, archived } = head;
      return [archive(at, { path, version, first, archived: !archived }), null];
    }
    const version = (head?.version ?? 0) + 1;
    const keeps = random.integer(8) === 0 ? 1 + random.integer(5) : version;
    const first = Math.max(head?.first ?? 1, version - keeps + 1);
    const change = { path, version, first, bodyHash: hashOf(random.integer(50)) };
    const catalog = { title: `Title ${version} of ${name}`, metadata: null };
    if (random.integer(100) < (this.#plan.staged ?? 10)) {
      const { epoch } = draft.control;
      const storedHash = sha256Hex(`${at}`);
      return [write(at, { ...change, catalog, at: { epoch }, storedHash }), null];
    }
    const text = `stored ${at} of ${path}`;
    return [inlined(at, text, { ...change, catalog }), text];
  }

  #append(entries: readonly Entry[], texts: readonly string[]): void {
    const { tip, control } = this.#state;
    const first = sequence(tip.sequence + 1);
    const draft = new SnapshotDraft(this.#state);
    for (const [index, entry] of entries.entries()) {
      const problem = applyEntry(draft, entry, sequence(first + index));
      if (problem !== null) throw new Error(problem);
    }
    const { bytes } = encodeSlot(
      slotInput(entries, texts, {
        first,
        time: tip.time + 1,
        prev: tip.hash,
        epoch: control.epoch,
        documents: draft.documentCount,
      }),
    );
    const { slot, hash } = decodeSlot(slotKey(first), bytes);
    this.slots.push({ slot, hash, bytes });
    this.#state = applySlot(this.#state, slot, hash);
  }
}
