/**
 * The ghost log: what the log is, by the bucket's own order of effects. A slot is *genuine* if it
 * was created at tip + 1 and names the hash of the tip, *stray* otherwise. Strays are harmless
 * below the floor, where names were freed, and nowhere else.
 *
 * It is fed with every create and delete that took effect, in order, and knows nothing of stores.
 * Times are whole ms.
 */
import {
  decodeMarker,
  decodeSlot,
  type OracleMarker,
  type OracleSlot,
  sha256,
} from '../../oracle/objects.ts';
import type { Violation } from '../history.ts';
import { lastAtMost } from './changes.ts';
import { GhostCollection, tellsTruth } from './ghost-collection.ts';
import type { GhostSlot, GhostState } from './ghost-document.ts';
import { GhostWorld } from './ghost-state.ts';
import { decodeRecord, type OracleKey, problemOf, readKey } from './keys.ts';

const SLOT_BYTES_MAX = 4 * 1024 * 1024;

/** A staged version that landed, for the checks of write cost. */
export interface GhostBlob {
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly at: number;
}

export class GhostLog {
  readonly violations: Violation[] = [];
  readonly blobs: GhostBlob[] = [];
  /** Genuine slots in order. */
  readonly slots: GhostSlot[] = [];
  /** Strays below the floor: harmless. */
  strays = 0;
  #marker: OracleMarker | null = null;
  #world: GhostWorld | null = null;
  readonly #objects = new Map<string, Uint8Array>();
  #tip = { sequence: 0, hash: '', time: 0 };
  readonly #landedAt: number[] = [];
  readonly #lasts: number[] = [];
  readonly #byFirst = new Map<number, GhostSlot>();
  readonly #collection = new GhostCollection((rule, detail) => this.#report(rule, detail));

  /** The state of the log; null before the marker landed. */
  get world(): GhostWorld | null {
    return this.#world;
  }

  /** How the log began; null before the marker landed. */
  get marker(): OracleMarker | null {
    return this.#marker;
  }

  /** The last sequence of the log. */
  get tip(): number {
    return this.#tip.sequence;
  }

  /** The sequence that the log starts after. */
  get start(): number {
    return this.#marker?.start.sequence ?? 0;
  }

  /** The last sequence that had landed at a time, or before it when it does not count itself. */
  tipAt(time: number, inclusive = true): number {
    const index = lastAtMost(this.#landedAt, inclusive ? time : time - 0.5);
    return this.#lasts[index] ?? this.start;
  }

  /** The last end of a slot at or before a sequence. */
  slotEnd(sequence: number): number {
    return this.#lasts[lastAtMost(this.#lasts, sequence)] ?? this.start;
  }

  /** The genuine slot whose first sequence this is. */
  slotFrom(first: number): GhostSlot | undefined {
    return this.#byFirst.get(first);
  }

  /** When a sequence landed, ms; undefined for one that is not in the log. */
  landedAt(sequence: number): number | undefined {
    const index = lastAtMost(this.#lasts, sequence - 1) + 1;
    return sequence > this.start ? this.#landedAt[index] : undefined;
  }

  /** A document at a sequence; undefined before its first version. */
  state(path: string, sequence: number): GhostState | undefined {
    return this.#world?.documents.get(path)?.states.at(sequence);
  }

  /** A create took effect. `at` is true time, ms, and never goes back. */
  landed(key: string, bytes: Uint8Array, at: number): void {
    const name = readKey(key);
    if (name.kind === 'probe') return;
    if (this.#objects.has(key)) {
      this.#report(name.kind === 'marker' ? 'I2' : 'I1', `${key} was created again`);
      return;
    }
    this.#objects.set(key, bytes);
    switch (name.kind) {
      case 'marker':
        this.#landMarker(key, bytes);
        break;
      case 'slot':
        this.#landSlot(key, name.first, bytes, at);
        break;
      case 'blob':
        this.#landBlob(key, name, bytes, at);
        break;
      case 'checkpoint':
        this.#landRecord(key, name, bytes);
        break;
      case 'plan':
      case 'derived':
        break;
      case 'other':
        this.#report('I9', `${key} is nothing that a store writes`);
        break;
      default:
        name.kind satisfies never;
    }
  }

  /** An object was lost by no store's doing, and may be created again. */
  lost(key: string): void {
    this.#objects.delete(key);
  }

  /** A delete took effect; of what is not there, it is nothing. */
  removed(key: string, _at: number): void {
    if (!this.#objects.delete(key)) return;
    const name = readKey(key);
    switch (name.kind) {
      case 'marker':
        this.#report('I2', 'the marker was deleted');
        break;
      case 'slot':
        this.#collection.removeSlot(key, name.first, this.#byFirst.get(name.first), this.#floor);
        break;
      case 'blob':
        this.#collection.removeBlob(key, this.#world);
        break;
      case 'checkpoint':
        this.#collection.removeRecord(key, name.sequence);
        break;
      default:
        break;
    }
  }

  get #floor(): number {
    return this.#world?.control.floor ?? 0;
  }

  #report(rule: string, detail: string): void {
    this.violations.push({ rule, detail });
  }

  #landMarker(key: string, bytes: Uint8Array): void {
    try {
      this.#marker = decodeMarker(key, bytes);
    } catch (error) {
      this.#report('I2', problemOf(error));
      return;
    }
    this.#tip = { sequence: this.#marker.start.sequence, hash: sha256(bytes), time: 0 };
    this.#world = new GhostWorld(this.#marker, this.#objects, (rule, detail) => {
      this.#report(rule, detail);
    });
  }

  #landSlot(key: string, first: number, bytes: Uint8Array, at: number): void {
    const world = this.#world;
    if (world === null) {
      this.#report('I2', `${key} landed before the marker`);
      return;
    }
    if (bytes.length > SLOT_BYTES_MAX) this.#report('I9', `${key} has ${bytes.length} bytes`);
    let slot: OracleSlot;
    try {
      slot = decodeSlot(key, bytes);
      if (slot.first !== first) this.#report('I1', `${key} begins at ${slot.first}`);
    } catch (error) {
      this.#collection.addStray(first, first);
      this.#report('I1', problemOf(error));
      return;
    }
    const next = first === this.#tip.sequence + 1 && slot.prev === this.#tip.hash;
    if (next && !world.control.sealed) {
      this.#extend(world, slot, bytes, at);
      return;
    }
    this.#collection.addStray(first, slot.last);
    const { floor, sealed } = world.control;
    if (next && sealed) this.#report('I1', `${key} follows a seal`);
    else if (first > this.#tip.sequence + 1) this.#report('I1', `${key} leaves a gap`);
    else if (first >= floor) this.#report('I1', `${key} is a second owner of its sequence`);
    else this.strays += 1;
  }

  #extend(world: GhostWorld, slot: OracleSlot, bytes: Uint8Array, at: number): void {
    const { key, first, last, hash, time, documents } = slot;
    const demand = (rule: string, holds: boolean, problem: string): void => {
      if (!holds) this.#report(rule, `${key}: ${problem}`);
    };
    demand('I1', slot.world_id === this.#marker?.world_id, 'is of another world');
    demand('I1', slot.incarnation_id === this.#marker?.incarnation_id, 'is of another life');
    demand('I3', time > this.#tip.time, 'is not later than what comes before');
    demand('I3', slot.epoch === world.control.epoch, `has epoch ${slot.epoch}`);
    world.apply(slot);
    const count = world.documents.size;
    demand('I3', documents === count, `counts ${documents} documents, not ${count}`);
    let inlinedBytes = 0;
    for (const stored of slot.inlined.values()) inlinedBytes += stored.length;
    const bytesMax = 2000 * slot.entries.length + inlinedBytes + 1000;
    demand('I9', bytes.length <= bytesMax, `has ${bytes.length} bytes, ${bytesMax} are enough`);
    const seal = world.control.sealed;
    const sizes = { bytes: bytes.length, inlinedBytes };
    const { epoch } = world.control;
    const noted: GhostSlot = { first, last, hash, time, documents, epoch, at, ...sizes, seal };
    this.slots.push(noted);
    this.#byFirst.set(first, noted);
    this.#landedAt.push(at);
    this.#lasts.push(last);
    this.#tip = { sequence: last, hash, time };
  }

  #landBlob(key: string, name: OracleKey & { kind: 'blob' }, bytes: Uint8Array, at: number): void {
    if (sha256(bytes) !== name.hash) this.#report('I8', `${key} is not the hash of its bytes`);
    const epoch = this.#world?.control.epoch ?? 0;
    if (name.epoch < 1 || name.epoch > epoch) this.#report('I8', `${key}: the epoch is ${epoch}`);
    this.blobs.push({ key, bytes, at });
  }

  /** A record tells the truth about a slot end of this log. */
  #landRecord(key: string, name: OracleKey & { kind: 'checkpoint' }, bytes: Uint8Array): void {
    this.#collection.addRecord(key, name.sequence);
    if (this.#world === null) {
      this.#report('I2', `${key} landed before the marker`);
      return;
    }
    try {
      const record = decodeRecord(key, bytes);
      const slot = this.slots[lastAtMost(this.#lasts, name.sequence)];
      const floor = this.#world.floors.at(name.sequence);
      const right = slot !== undefined && tellsTruth(record, name, slot, this.#marker, floor);
      if (!right) this.#report('I4', `${key} is not what the log says at ${name.sequence}`);
    } catch (error) {
      this.#report('I4', problemOf(error));
    }
  }
}
