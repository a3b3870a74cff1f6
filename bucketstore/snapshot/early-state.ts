/**
 * The state of a world as far as its log behind a checkpoint tells it, before the documents of the
 * checkpoint are in memory: the tip, the control state, and what slots say of single documents.
 * Immutable. Pure.
 */
import type { CallOptions } from '../../blob/index.ts';
import { integrityError } from '../base/errors.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { belongs, follows } from '../log/chain.ts';
import { isMutation } from '../log/entry-rules.ts';
import { slotKey } from '../log/names.ts';
import type { Entry, MutationEntry, Slot } from '../log/records.ts';
import { controlAfter } from './apply.ts';
import type { EarlyBase } from './early-base.ts';
import type { EnteredSlot } from './load.ts';
import type { Identity } from './snapshot.ts';
import type { ControlState, DocumentState, SlotIndex, StoredAt, Tip } from './state.ts';

/** A mutation of a document, and where it stands. */
interface Change {
  readonly entry: MutationEntry;
  readonly at: Sequence;
  /** Of the slot. */
  readonly first: Sequence;
}

export interface EarlyParts {
  readonly identity: Identity;
  readonly base: EarlyBase;
  /** The end of the log at the checkpoint. */
  readonly from: Tip;
  readonly tip: Tip;
  readonly control: ControlState;
  /** Behind the checkpoint, in order. */
  readonly slots: readonly EnteredSlot[];
}

export class EarlyState {
  readonly #parts: EarlyParts;

  constructor(parts: EarlyParts) {
    this.#parts = parts;
  }

  get base(): EarlyBase {
    return this.#parts.base;
  }

  /** The end of the log at the checkpoint. */
  get from(): Tip {
    return this.#parts.from;
  }

  get tip(): Tip {
    return this.#parts.tip;
  }

  get control(): ControlState {
    return this.#parts.control;
  }

  /** Behind the checkpoint, in order. */
  get slots(): readonly EnteredSlot[] {
    return this.#parts.slots;
  }

  /**
   * The state after more slots.
   * @throws StoreError `INTEGRITY` naming the first that does not follow
   */
  after(slots: readonly EnteredSlot[]): EarlyState {
    let { tip, control } = this.#parts;
    for (const { slot, hash } of slots) {
      const problem = this.#problemOf(slot, tip, control);
      if (problem !== null) throw integrityError(slotKey(slot.first), problem);
      for (const [index, entry] of slot.entries.entries()) {
        control = controlBehind(control, entry, sequence(slot.first + index));
      }
      tip = { sequence: slot.last, hash, time: slot.time };
    }
    return new EarlyState({ ...this.#parts, tip, control, slots: [...this.slots, ...slots] });
  }

  /** The slot that holds a sequence, when it is one behind the checkpoint. */
  slotOf(at: number): SlotIndex | undefined {
    return this.slots.find(({ slot }) => slot.first <= at && at <= slot.last)?.slot;
  }

  /**
   * The document at a canonical path, archived or not; null for none. Asks the checkpoint unless a
   * slot behind it has made the current version.
   * @throws StoreError `INTEGRITY` also when the slots do not continue what the checkpoint has
   */
  async document(path: string, options: CallOptions): Promise<DocumentState | null> {
    const changes = this.#changesOf(path);
    const last = changes.findLastIndex(({ entry }) => entry.kind === 'write');
    const written = changes[last];
    let document =
      written === undefined ? await this.base.document(path, options) : writtenBy(written);
    for (const change of changes.slice(last + 1)) document = archivedBy(document, change);
    return document;
  }

  #problemOf(slot: Slot, tip: Tip, control: ControlState): string | null {
    if (control.seal !== null) return 'nothing follows a seal';
    const problem = belongs(this.#parts.identity, slot) ?? follows(tip, slot);
    if (problem !== null || slot.epoch === control.epoch) return problem;
    return `epoch: ${slot.epoch}, expected ${control.epoch}`;
  }

  #changesOf(path: string): readonly Change[] {
    const changes: Change[] = [];
    for (const { slot } of this.slots) {
      for (const [index, entry] of slot.entries.entries()) {
        if (!isMutation(entry) || entry.path !== path) continue;
        changes.push({ entry, at: sequence(slot.first + index), first: slot.first });
      }
    }
    return changes;
  }
}

function controlBehind(control: ControlState, entry: Entry, at: Sequence): ControlState {
  if (isMutation(entry)) return { ...control, mutation: at };
  const next = controlAfter(control, entry, at);
  if (typeof next === 'string') throw integrityError(slotKey(at), `entry ${at}: ${next}`);
  return next;
}

function writtenBy({ entry, at }: Change): DocumentState | null {
  if (entry.kind !== 'write') return null;
  const { path, version, first, storedHash, bodyHash, modified, catalog } = entry;
  const place: StoredAt = entry.at === 'slot' ? { seq: at } : entry.at;
  const current = { version, storedHash, bodyHash, modified, at: place };
  return { path, current, first, archived: false, catalog };
}

function archivedBy(document: DocumentState | null, { entry, at, first }: Change): DocumentState {
  const { path, version } = entry;
  const isSame = document?.current.version === version && document.first === entry.first;
  if (document === null || !isSame || entry.kind !== 'archive') {
    throw integrityError(slotKey(first), `entry ${at}: does not continue what ${path} was`);
  }
  return { ...document, archived: entry.archived };
}
