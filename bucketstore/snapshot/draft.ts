/** A snapshot in the making: the one place where the maps of a state are changed. */
import type { Slot } from '../log/records.ts';
import { type ChangedDocument, Snapshot } from './snapshot.ts';
import type { ControlState, DocumentHead, VersionRecord } from './state.ts';
import { versionKey } from './version-key.ts';

/**
 * Starts equal to a snapshot and is moved entry by entry (`apply.ts`); reads as a snapshot at any
 * moment. `freeze` is constant time, so a state can be kept before a group and gone back to.
 */
export class SnapshotDraft extends Snapshot {
  constructor(base: Snapshot) {
    super(base.copyParts());
  }

  override freeze(): Snapshot {
    return new Snapshot(this.copyParts());
  }

  setControl(control: ControlState): void {
    this.controlNow = control;
  }

  /** Ends a slot: its last sequence and hash become the tip. */
  endSlot(slot: Slot, hash: string): void {
    this.tipNow = { sequence: slot.last, hash, time: slot.time };
    this.noteSlot(slot);
  }

  /** Where a slot's inlined versions lie. */
  noteSlot({ first, last, inlined }: Slot): void {
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
  putDocument(path: string, before: DocumentHead | undefined, after: ChangedDocument): void {
    this.maps.documents.set(path, after);
    if (before === undefined) this.created += 1;
    else if (!before.archived) this.maps.bodies.delete(`${before.bodyHash}\0${path}`);
    if (!after.archived) this.maps.bodies.set(`${after.bodyHash}\0${path}`, undefined);
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
}
