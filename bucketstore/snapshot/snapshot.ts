/**
 * The state of a world at one sequence. Immutable: a held snapshot reads the past for as long as it
 * is held, and costs the memory of what has changed since (I15).
 */
import { isHiddenName } from '../document/path.ts';
import type { Marker } from '../log/records.ts';
import { OrderedMap } from './ordered-map.ts';
import type {
  ChildCounts,
  ControlState,
  DocumentState,
  ListEntry,
  SlotIndex,
  Tip,
  VersionRecord,
} from './state.ts';

/** The ordered maps of a snapshot. Keys of two parts are joined by NUL, which no path holds. */
export interface SnapshotMaps {
  /** By path. */
  readonly documents: OrderedMap<string, DocumentState>;
  /** By directory and name. */
  readonly children: OrderedMap<string, ChildCounts>;
  /** Live documents by body hash and path. A set: nodes without values are half the memory. */
  readonly bodies: OrderedMap<string, undefined>;
  /** Retained versions by path and version. */
  readonly versions: OrderedMap<string, VersionRecord>;
  /** Slots since the checkpoint, by first sequence. */
  slots: OrderedMap<number, SlotIndex>;
}

/** Whose world it is; the same for every snapshot of a life. */
export type Identity = Pick<Marker, 'worldId' | 'incarnationId'>;

export interface ListQuery {
  /** Names greater than it by bytes; need not exist. */
  readonly after?: string | undefined;
  /** Most entries; 0 or nothing for all. */
  readonly limit?: number | undefined;
  /** Show archived documents too. Default false. */
  readonly includeArchived?: boolean | undefined;
}

export class Snapshot {
  readonly identity: Identity;
  protected readonly maps: SnapshotMaps;
  protected tipNow: Tip;
  protected controlNow: ControlState;

  constructor(identity: Identity, tip: Tip, control: ControlState, maps: SnapshotMaps) {
    this.identity = identity;
    this.tipNow = tip;
    this.controlNow = control;
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
    const maps: SnapshotMaps = {
      documents: OrderedMap.byText(),
      children: OrderedMap.byText(),
      bodies: OrderedMap.byText(),
      versions: OrderedMap.byText(),
      slots: OrderedMap.byNumber(),
    };
    return new Snapshot(marker, { sequence, hash: markerHash, time: 0 }, control, maps);
  }

  get tip(): Tip {
    return this.tipNow;
  }

  get control(): ControlState {
    return this.controlNow;
  }

  /** Documents, archived ones included. */
  get documentCount(): number {
    return this.maps.documents.size;
  }

  /** The document at a canonical path, archived or not. */
  document(path: string): DocumentState | undefined {
    return this.maps.documents.get(path);
  }

  /** Whether any document lies under a path; the root always is a directory. */
  isDirectory(path: string): boolean {
    if (path === '/') return true;
    if (this.maps.documents.get(path) !== undefined) return false;
    return this.maps.children.get(childKeyOf(path)) !== undefined;
  }

  /** Immediate children of a directory in name order. Empty for a path that is none. */
  list(directory: string, { after, limit, includeArchived = false }: ListQuery = {}): ListEntry[] {
    const prefix = `${directory}\0`;
    const entries: ListEntry[] = [];
    const most = limit === 0 ? undefined : limit;
    for (const [key, counts] of this.maps.children.from(`${prefix}${after ?? ''}`)) {
      if (!key.startsWith(prefix) || entries.length === most) break;
      const name = key.slice(prefix.length);
      if (name === after || isHiddenName(name)) continue;
      if ((includeArchived ? counts.visible : counts.live) === 0) continue;
      const path = directory === '/' ? `/${name}` : `${directory}/${name}`;
      entries.push({ name, isDir: this.maps.documents.get(path) === undefined });
    }
    return entries;
  }

  /** A retained version's record. */
  version(path: string, version: number): VersionRecord | undefined {
    return this.maps.versions.get(versionKey(path, version));
  }

  /** Retained versions of a document, newest first. */
  *versions(path: string): Generator<VersionRecord> {
    const prefix = `${path}\0`;
    for (const [key, record] of this.maps.versions.backFrom(`${prefix}~`)) {
      if (!key.startsWith(prefix)) return;
      yield record;
    }
  }

  /** The smallest live path whose body has a hash (64 hex). */
  lookupHash(bodyHash: string): string | undefined {
    const prefix = `${bodyHash}\0`;
    for (const [key] of this.maps.bodies.from(prefix)) {
      return key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
    }
    return undefined;
  }

  /** Every document in path order. */
  *documents(): Generator<DocumentState> {
    for (const [, document] of this.maps.documents.from()) yield document;
  }

  /** The slot that holds a sequence, when it is one that this snapshot was replayed from. */
  slotOf(sequence: number): SlotIndex | undefined {
    const slot = this.maps.slots.floor(sequence)?.[1];
    return slot !== undefined && sequence <= slot.last ? slot : undefined;
  }

  /** The state as it is now, for good: of a snapshot itself, of a draft a copy. Constant time. */
  freeze(): Snapshot {
    return this;
  }

  /** Its slots, to go their own way; for a draft. Constant time. */
  copySlots(): OrderedMap<number, SlotIndex> {
    return this.maps.slots.copy();
  }

  /** Its maps, to go their own way; for a draft. Constant time. */
  copyMaps(): SnapshotMaps {
    const { documents, children, bodies, versions, slots } = this.maps;
    return {
      documents: documents.copy(),
      children: children.copy(),
      bodies: bodies.copy(),
      versions: versions.copy(),
      slots: slots.copy(),
    };
  }
}

/** Key of a path as a child of its directory. */
export function childKeyOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return `${slash === 0 ? '/' : path.slice(0, slash)}\0${path.slice(slash + 1)}`;
}

/** Key of a version, in version order within a path: 8 hex digits hold 2^31 − 1. */
export function versionKey(path: string, version: number): string {
  return `${path}\0${version.toString(16).padStart(8, '0')}`;
}
