/**
 * A replay of the log that can say at any sequence what a checkpoint there must say: the state,
 * where its base ends, how much was pruned, and how many documents belong into each run. Pure.
 * Holds the state, and a number for each unit of the log.
 */
import { type Sequence, sequence } from '../bucketstore/base/sequence.ts';
import type { ReadSlot } from '../bucketstore/log/log.ts';
import type { Entry, Slot, Swept, WriteEntry } from '../bucketstore/log/records.ts';
import { applyEntry, applySlot } from '../bucketstore/snapshot/apply.ts';
import { SnapshotDraft } from '../bucketstore/snapshot/draft.ts';
import { OrderedMap } from '../bucketstore/snapshot/ordered-map.ts';
import { Snapshot } from '../bucketstore/snapshot/snapshot.ts';
import type { VersionRecord } from '../bucketstore/snapshot/state.ts';
import type { BasePlaces } from './base-places.ts';
import { type BasePosition, nextBasePosition } from './base-positions.ts';
import { UnitCounts } from './unit-counts.ts';

/** What a replay begins with: the start of a life, or a checkpoint. */
export interface WalkStart {
  readonly snapshot: Snapshot;
  /** Where the life began. */
  readonly start: Sequence;
  readonly base: BasePosition;
  readonly swept: Swept;
  /** Of the documents that the snapshot begins with; null when there are none. */
  readonly places: BasePlaces | null;
}

/** A document as the entries of one slot leave it. */
interface Seen {
  readonly first: number;
  /** Its last change. */
  readonly touched: number;
  /** Its current version. */
  readonly made: number;
}

export class VerifyWalk {
  /** Documents by their last change. */
  readonly touched: UnitCounts;
  /** Documents by the sequence of their current version. */
  readonly made: UnitCounts;
  /** Inlined stored versions by their sequence. */
  readonly inlined: UnitCounts;
  /** Sequence of what the replay began with. */
  readonly from: Sequence;
  readonly places: BasePlaces | null;
  #snapshot: Snapshot;
  #base: BasePosition;
  #swept: Swept;
  #documents: number;
  /** Of versions in blobs, whose records do not say it. */
  readonly #madeAt = new WeakMap<VersionRecord, number>();

  constructor({ snapshot, start, base, swept, places }: WalkStart) {
    this.touched = new UnitCounts(start);
    this.made = new UnitCounts(start);
    this.inlined = new UnitCounts(start);
    places?.count(this.touched, this.made);
    this.from = snapshot.tip.sequence;
    this.places = places;
    this.#snapshot = snapshot;
    this.#base = base;
    this.#swept = swept;
    this.#documents = snapshot.documentCount;
  }

  /** The state at the end of the last slot. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** The base of a checkpoint at the sequence that was passed last. */
  get base(): BasePosition {
    return this.#base;
  }

  get swept(): Swept {
    return this.#swept;
  }

  /** The sequence at which a version was made; undefined when a checkpoint below has it. */
  madeAt(record: VersionRecord): number | undefined {
    return 'seq' in record.at ? record.at.seq : this.#madeAt.get(record);
  }

  /**
   * Goes on over a slot.
   * @param isBoundary for a sequence in it, its last one too: whether `onBoundary` is called with
   *   the state there; everything else here is as of that sequence too
   * @throws StoreError `INTEGRITY` naming the slot when it does not follow; nothing has changed
   */
  async enter(
    { slot, hash }: Pick<ReadSlot, 'slot' | 'hash'>,
    isBoundary: (at: Sequence) => boolean,
    onBoundary: (at: Sequence, state: Snapshot) => Promise<void>,
  ): Promise<void> {
    const before = this.#snapshot;
    const after = applySlot(before, slot, hash);
    this.#noteMade(slot, after);
    const seen = new Map<string, Seen>();
    for (const [index, entry] of slot.entries.entries()) {
      const at = sequence(slot.first + index);
      this.#count(before, seen, entry, at);
      if (at === slot.last) this.#snapshot = withoutSlots(after);
      if (!isBoundary(at)) continue;
      await onBoundary(at, at === slot.last ? this.#snapshot : stateInside(before, slot, at));
    }
  }

  /** Records of what is still retained: what is not, nobody asks for. */
  #noteMade(slot: Slot, after: Snapshot): void {
    for (const [index, entry] of slot.entries.entries()) {
      if (entry.kind !== 'write' || entry.at === 'slot') continue;
      for (const record of after.changedVersions(entry.path)) {
        if (record.version < entry.version) break;
        if (record.version === entry.version) this.#madeAt.set(record, slot.first + index);
      }
    }
  }

  #count(before: Snapshot, seen: Map<string, Seen>, entry: Entry, at: Sequence): void {
    if (entry.kind === 'write') {
      const known = seen.get(entry.path) ?? this.#seenIn(before, entry.path);
      this.#countWrite(known, entry, at);
      seen.set(entry.path, { first: entry.first, touched: at, made: at });
    } else if (entry.kind === 'archive') {
      const known = seen.get(entry.path) ?? this.#seenIn(before, entry.path);
      if (known !== null) {
        this.touched.move(known.touched, at);
        seen.set(entry.path, { ...known, touched: at });
      }
    } else if (entry.kind === 'barrier') {
      this.#swept = { ...this.#swept, pruned: 0 };
    } else if (entry.kind === 'clear') {
      this.#swept = { ...this.#swept, plan: entry.plan };
    }
    this.#passBases(at);
  }

  #countWrite(known: Seen | null, { at: place, first }: WriteEntry, at: Sequence): void {
    const { plan, pruned, retained } = this.#swept;
    if (place === 'slot') this.inlined.add(at);
    if (known === null) {
      this.#documents += 1;
      this.touched.add(at);
      this.made.add(at);
      this.#swept = { plan, pruned, retained: retained + 1 };
      return;
    }
    this.touched.move(known.touched, at);
    this.made.move(known.made, at);
    const dropped = first - known.first;
    this.#swept = { plan, pruned: pruned + dropped, retained: retained + 1 - dropped };
  }

  /** A base ends where an entry was, whether inside a slot or not. */
  #passBases(at: Sequence): void {
    while (nextBasePosition(this.#base) <= at) {
      this.#base = { position: nextBasePosition(this.#base), documents: this.#documents };
    }
  }

  #seenIn(state: Snapshot, path: string): Seen | null {
    const head = state.head(path);
    if (head === undefined) return null;
    const { first } = head;
    const touched = 'at' in head ? head.at : this.#placed().runOf(path).through;
    const current = state.changedDetails(path)?.current;
    const made = current === undefined ? undefined : this.madeAt(current);
    return { first, touched, made: made ?? this.#placed().recordRunOf(path).through };
  }

  #placed(): BasePlaces {
    if (this.places === null) throw new TypeError('no document was there to begin with');
    return this.places;
  }
}

/** The state at a sequence inside a slot that follows. */
function stateInside(before: Snapshot, slot: Slot, through: Sequence): Snapshot {
  const draft = new SnapshotDraft(before);
  for (const [index, entry] of slot.entries.entries()) {
    const at = sequence(slot.first + index);
    if (at > through) break;
    applyEntry(draft, entry, at);
  }
  return draft.freeze();
}

/** Where slots hold what is no part of the state: for a replay of all of them it would be a lot. */
function withoutSlots(state: Snapshot): Snapshot {
  const parts = state.copyParts();
  return new Snapshot({ ...parts, maps: { ...parts.maps, slots: OrderedMap.byNumber() } });
}
