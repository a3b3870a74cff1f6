/** A snapshot in the making: the one place where the maps of a state are changed. */
import { isHiddenName } from '../document/path.ts';
import type { Slot } from '../log/records.ts';
import { childKeyOf, Snapshot, versionKey } from './snapshot.ts';
import type { ControlState, DocumentState, VersionRecord } from './state.ts';

/**
 * Starts equal to a snapshot and is moved entry by entry (`apply.ts`); reads as a snapshot at any
 * moment. `freeze` is constant time, so a state can be kept before a group and gone back to.
 */
export class SnapshotDraft extends Snapshot {
  constructor(base: Snapshot) {
    super(base.identity, base.tip, base.control, base.copyMaps());
  }

  override freeze(): Snapshot {
    return new Snapshot(this.identity, this.tip, this.control, this.copyMaps());
  }

  setControl(control: ControlState): void {
    this.controlNow = control;
  }

  /** Ends a slot: its last sequence and hash become the tip. */
  endSlot(slot: Slot, hash: string): void {
    this.tipNow = { sequence: slot.last, hash, time: slot.time };
    const { first, last, inlined } = slot;
    this.maps.slots.set(first, { first, last, inlined });
  }

  /**
   * Takes the tip and the slots of the state that it turns out to follow: of a draft that was built
   * before its predecessor was committed.
   */
  follow(base: Snapshot): void {
    this.tipNow = base.tip;
    this.maps.slots = base.copySlots();
  }

  /** Puts a document's new state in the place of its old one, in every map. */
  putDocument(before: DocumentState | undefined, after: DocumentState): void {
    const { path } = after;
    this.maps.documents.set(path, after);
    const wasLive = before !== undefined && !before.archived;
    const isLive = !after.archived;
    if (before === undefined || wasLive !== isLive) {
      this.#count(path, before === undefined ? 1 : 0, Number(isLive) - Number(wasLive));
    }
    const hashBefore = before?.current.bodyHash;
    if (wasLive && (!isLive || hashBefore !== after.current.bodyHash)) {
      this.maps.bodies.delete(`${hashBefore}\0${path}`);
    }
    if (isLive) this.maps.bodies.set(`${after.current.bodyHash}\0${path}`, undefined);
  }

  addVersion(path: string, record: VersionRecord): void {
    this.maps.versions.set(versionKey(path, record.version), record);
  }

  /** Forgets the versions from `from` up to but not including `to`. */
  pruneVersions(path: string, from: number, to: number): void {
    for (let version = from; version < to; version++) {
      this.maps.versions.delete(versionKey(path, version));
    }
  }

  /** Adds to the counts of a path as a child and of each ancestor as a child. */
  #count(path: string, documents: number, live: number): void {
    let visible = true;
    for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
      visible &&= !isHiddenName(at.slice(at.lastIndexOf('/') + 1));
      const key = childKeyOf(at);
      const counts = this.maps.children.get(key) ?? { documents: 0, visible: 0, live: 0 };
      this.maps.children.set(key, {
        documents: counts.documents + documents,
        visible: counts.visible + (visible ? documents : 0),
        live: counts.live + (visible ? live : 0),
      });
    }
  }
}
