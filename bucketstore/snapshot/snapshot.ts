/**
 * The state of a world at one sequence. Immutable: a held snapshot reads the past for as long as it
 * is held, and costs the memory of what has changed since (I15).
 */
import type { CallOptions } from '../../blob/index.ts';
import { assert } from '../base/assert.ts';
import { atOnce } from '../base/in-turns.ts';
import { compareUtf8 } from '../base/order.ts';
import type { Sequence } from '../base/sequence.ts';
import type { Marker } from '../log/records.ts';
import { type BaseState, EMPTY_BASE, type PlacedDocument } from './base.ts';
import { hasUnder, type ListQuery, listChildren } from './listing.ts';
import { OrderedMap } from './ordered-map.ts';
import { rebaseSteps } from './rebase.ts';
import type {
  ControlState,
  DocumentDetails,
  DocumentHead,
  DocumentState,
  ListEntry,
  SlotIndex,
  Tip,
  VersionRecord,
} from './state.ts';
import { versionKey } from './version-key.ts';

/** A document that has changed since the checkpoint. */
export interface ChangedDocument extends DocumentHead {
  /** The sequence that changed it last. */
  readonly at: Sequence;
  /** null: as the checkpoint has them, for only its place in listings has changed. */
  readonly details: DocumentDetails | null;
}

/**
 * What has changed since the checkpoint, in ordered maps. Keys of two parts are joined by NUL,
 * which no path holds.
 */
export interface SnapshotMaps {
  /** By path. */
  readonly documents: OrderedMap<string, ChangedDocument>;
  /** Live documents by body hash and path. A set: nodes without values are half the memory. */
  readonly bodies: OrderedMap<string, undefined>;
  /** Retained versions by path and version. */
  readonly versions: OrderedMap<string, VersionRecord>;
  /** Slots since the checkpoint, by first sequence. */
  slots: OrderedMap<number, SlotIndex>;
}

export interface SnapshotParts {
  readonly identity: Identity;
  readonly base: BaseState;
  readonly tip: Tip;
  readonly control: ControlState;
  /** Documents in `maps` that `base` does not have. */
  readonly created: number;
  readonly maps: SnapshotMaps;
}

/** Whose world it is; the same for every snapshot of a life. */
export type Identity = Pick<Marker, 'worldId' | 'incarnationId'>;

export class Snapshot {
  readonly identity: Identity;
  /** The documents at the checkpoint. */
  readonly base: BaseState;
  protected readonly maps: SnapshotMaps;
  protected tipNow: Tip;
  protected controlNow: ControlState;
  /** Documents that the checkpoint does not have. */
  protected created: number;

  constructor({ identity, base, tip, control, created, maps }: SnapshotParts) {
    this.identity = identity;
    this.base = base;
    this.tipNow = tip;
    this.controlNow = control;
    this.created = created;
    this.maps = maps;
  }

  /** The state that a marker without a root starts from: nothing. */
  static atStart(marker: Marker, markerHash: string): Snapshot {
    const { sequence, epoch } = marker.start;
    const control: ControlState = {
      epoch,
      floor: { at: sequence + 1, mutation: sequence },
      mutation: sequence,
      plan: null,
      kept: [],
      schema1: false,
      pins: [],
      seal: null,
    };
    return Snapshot.atBase(
      { worldId: marker.worldId, incarnationId: marker.incarnationId },
      EMPTY_BASE,
      { sequence, hash: markerHash, time: 0 },
      control,
    );
  }

  /** The state at a checkpoint. */
  static atBase(identity: Identity, base: BaseState, tip: Tip, control: ControlState): Snapshot {
    const maps: SnapshotMaps = {
      documents: OrderedMap.byText(),
      bodies: OrderedMap.byText(),
      versions: OrderedMap.byText(),
      slots: OrderedMap.byNumber(),
    };
    return new Snapshot({ identity, base, tip, control, created: 0, maps });
  }

  get tip(): Tip {
    return this.tipNow;
  }

  get control(): ControlState {
    return this.controlNow;
  }

  /** Documents, archived ones included. */
  get documentCount(): number {
    return this.base.documents + this.created;
  }

  /** What is known without a request of the document at a canonical path, archived or not. */
  head(path: string): DocumentHead | ChangedDocument | undefined {
    return this.maps.documents.get(path) ?? this.base.head(path);
  }

  /**
   * The document at a canonical path, archived or not: at once unless it must be read from a
   * checkpoint, which is one or two `get`s when it is not cached.
   * @throws StoreError `INTEGRITY`, `UNAVAILABLE`, `LOCATION`
   */
  document(
    path: string,
    options: CallOptions = {},
  ): DocumentState | undefined | Promise<DocumentState> {
    const changed = this.maps.documents.get(path);
    if (changed !== undefined && changed.details !== null) {
      return stateOf(path, changed, changed.details);
    }
    const head = changed ?? this.base.head(path);
    if (head === undefined) return undefined;
    return this.base.details(path, options).then((details) => stateOf(path, head, details));
  }

  /** Details of a document that do not lie in a checkpoint. */
  changedDetails(path: string): DocumentDetails | null {
    return this.maps.documents.get(path)?.details ?? null;
  }

  /** Whether any document lies under a path; the root always is a directory. */
  isDirectory(path: string): boolean {
    return path === '/' || hasUnder((at, within) => this.#documentsFrom(at, within), path);
  }

  /** Immediate children of a directory in name order. Empty for a path that is none. */
  list(directory: string, query: ListQuery = {}): ListEntry[] {
    return listChildren((at, within) => this.#documentsFrom(at, within), directory, query);
  }

  /**
   * A retained version's record; undefined for none. As `document`.
   */
  version(
    path: string,
    version: number,
    options: CallOptions = {},
  ): VersionRecord | undefined | Promise<VersionRecord | undefined> {
    const changed = this.maps.versions.get(versionKey(path, version));
    if (changed !== undefined) return changed;
    const head = this.head(path);
    const known = this.base.head(path);
    if (head === undefined || known === undefined) return undefined;
    if (version < head.first || version > known.version) return undefined;
    return this.base.versions(path, options).then((records) => {
      return records.find((record) => record.version === version);
    });
  }

  /** Retained versions of a document, newest first. As `document`. */
  async versions(path: string, options: CallOptions = {}): Promise<readonly VersionRecord[]> {
    const changed = [...this.changedVersions(path)];
    const head = this.head(path);
    const known = this.base.head(path);
    if (head === undefined || known === undefined || known.version < head.first) return changed;
    const before = await this.base.versions(path, options);
    const { first } = head;
    return [...changed, ...before.filter(({ version }) => version >= first)];
  }

  /** Retained versions made since the checkpoint, newest first. */
  *changedVersions(path: string): Generator<VersionRecord> {
    const prefix = `${path}\0`;
    for (const [key, record] of this.maps.versions.backFrom(`${prefix}~`)) {
      if (!key.startsWith(prefix)) return;
      yield record;
    }
  }

  /** The smallest live path whose body has a hash (64 hex). */
  lookupHash(bodyHash: string): string | undefined {
    const changed = this.#changedPath(bodyHash);
    for (const path of this.base.livePaths(bodyHash)) {
      if (changed !== undefined && compareUtf8(path, changed) > 0) break;
      if (this.maps.documents.get(path) === undefined) return path;
    }
    return changed;
  }

  #changedPath(bodyHash: string): string | undefined {
    const prefix = `${bodyHash}\0`;
    for (const [key] of this.maps.bodies.from(prefix)) {
      return key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
    }
    return undefined;
  }

  /** Documents from a path on: those of the checkpoint, and over them what has changed. */
  *#documentsFrom(path: string, within: string): Generator<PlacedDocument> {
    const base = this.base.from(path, within);
    let known = base.next();
    for (const [at, { archived }] of this.maps.documents.from(path)) {
      for (; known.done !== true && compareUtf8(known.value.path, at) < 0; known = base.next()) {
        yield known.value;
      }
      if (known.done !== true && known.value.path === at) known = base.next();
      yield { path: at, archived };
    }
    for (; known.done !== true; known = base.next()) yield known.value;
  }

  /** Every document that has changed since the checkpoint, in path order. */
  *changed(): Generator<readonly [path: string, document: ChangedDocument]> {
    yield* this.maps.documents.from();
  }

  /** The slot that holds a sequence, when it is one that this snapshot was replayed from. */
  slotOf(sequence: number): SlotIndex | undefined {
    const slot = this.maps.slots.floor(sequence)?.[1];
    return slot !== undefined && sequence <= slot.last ? slot : undefined;
  }

  /**
   * The same state on a newer checkpoint: what that has is not held twice, and this snapshot goes
   * on as it is. A look into the base for each document that has changed since the older one.
   * @param at the checkpoint's sequence, not beyond the tip
   * @param packedThrough slots that end at or before it are let go: versions in later ones are in
   *   no pack yet. Default `at`
   * @throws StoreError `INTEGRITY` naming a document that the checkpoint has otherwise
   */
  rebase(base: BaseState, at: Sequence, packedThrough: Sequence = at): Snapshot {
    return atOnce(this.rebaseSteps(base, at, packedThrough));
  }

  /** As `rebase`, in steps of some ms between which others may have their turn. */
  *rebaseSteps(
    base: BaseState,
    at: Sequence,
    packedThrough: Sequence,
  ): Generator<undefined, Snapshot> {
    assert(at <= this.tip.sequence, () => `a base at ${at}, beyond ${this.tip.sequence}`);
    return new Snapshot(yield* rebaseSteps(this.copyParts(), base, at, packedThrough));
  }

  /** The state as it is now, for good: of a snapshot itself, of a draft a copy. Constant time. */
  freeze(): Snapshot {
    return this;
  }

  /** Its slots, to go their own way; for a draft. Constant time. */
  copySlots(): OrderedMap<number, SlotIndex> {
    return this.maps.slots.copy();
  }

  /** Itself in parts that go their own way; for a draft. Constant time. */
  copyParts(): SnapshotParts {
    const { identity, base, tip, control, created } = this;
    const { documents, bodies, versions, slots } = this.maps;
    const maps = {
      documents: documents.copy(),
      bodies: bodies.copy(),
      versions: versions.copy(),
      slots: slots.copy(),
    };
    return { identity, base, tip, control, created, maps };
  }
}

function stateOf(
  path: string,
  { first, archived }: DocumentHead,
  { current, catalog }: DocumentDetails,
): DocumentState {
  return { path, current, first, archived, catalog };
}
