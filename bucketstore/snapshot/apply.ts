/**
 * What an entry means: the one function that moves a state, for replay and for building alike, so
 * what a committer builds is what every reader will see (I3, I5). Pure.
 *
 * A problem is returned as text, because its two callers mean different things by it: in a slot
 * that was read it is an integrity error of that slot, in a slot that is being built it refuses one
 * member.
 */
import { assertNever } from '../base/assert.ts';
import { integrityError } from '../base/errors.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { ancestors } from '../document/path.ts';
import { belongs, follows } from '../log/chain.ts';
import { slotKey } from '../log/names.ts';
import {
  type ArchiveEntry,
  type ControlEntry,
  DOCUMENTS_MAX,
  type Entry,
  type Slot,
  type WriteEntry,
} from '../log/records.ts';
import { SnapshotDraft } from './draft.ts';
import type { Snapshot } from './snapshot.ts';
import type { ControlState, DocumentHead, StoredAt } from './state.ts';

/**
 * The state after a slot.
 * @throws StoreError `INTEGRITY` naming the slot when it does not follow `snapshot`
 */
export function applySlot(snapshot: Snapshot, slot: Slot, hash: string): Snapshot {
  const problem = notNext(snapshot, slot);
  if (problem !== null) throw integrityError(slotKey(slot.first), problem);
  const draft = new SnapshotDraft(snapshot);
  for (const [index, entry] of slot.entries.entries()) {
    const at = sequence(slot.first + index);
    const refusal = applyEntry(draft, entry, at);
    if (refusal !== null) throw integrityError(slotKey(slot.first), `entry ${at}: ${refusal}`);
  }
  if (draft.documentCount !== slot.documents) {
    throw integrityError(
      slotKey(slot.first),
      `says ${slot.documents} documents, replay has ${draft.documentCount}`,
    );
  }
  draft.endSlot(slot, hash);
  return draft.freeze();
}

/**
 * Moves a draft over one entry, or leaves it untouched and says why the entry cannot follow.
 * @param at the sequence that the entry has or will have
 */
export function applyEntry(draft: SnapshotDraft, entry: Entry, at: Sequence): string | null {
  if (draft.control.seal !== null) return 'nothing follows a seal';
  switch (entry.kind) {
    case 'write':
      return applyWrite(draft, entry, at);
    case 'archive':
      return applyArchive(draft, entry, at);
    default:
      return applyControl(draft, entry, at);
  }
}

function notNext(snapshot: Snapshot, slot: Slot): string | null {
  const { identity, tip, control } = snapshot;
  const problem = belongs(identity, slot) ?? follows(tip, slot);
  if (problem !== null) return problem;
  return slot.epoch === control.epoch ? null : `epoch: ${slot.epoch}, expected ${control.epoch}`;
}

function applyWrite(draft: SnapshotDraft, entry: WriteEntry, at: Sequence): string | null {
  const before = draft.head(entry.path);
  const problem = before === undefined ? notNew(draft, entry) : notNextVersion(before, entry);
  if (problem !== null) return problem;
  const { path, version, first, storedHash, bodyHash, modified, catalog } = entry;
  const stored: StoredAt = entry.at === 'slot' ? { seq: at } : entry.at;
  const record = { version, storedHash, bodyHash, modified, at: stored };
  draft.addVersion(path, record);
  if (before !== undefined) draft.pruneVersions(path, before.first, first);
  const details = { current: record, catalog };
  const head = { version, first, archived: false, bodyHash, storedHash };
  draft.putDocument(path, before, { ...head, at, details });
  draft.setControl({ ...draft.control, mutation: at });
  return null;
}

function notNew(draft: SnapshotDraft, entry: WriteEntry): string | null {
  const { path, version, verb } = entry;
  if (version !== 1) return `${path} is new and must begin at version 1, not ${version}`;
  if (verb === 'append') return `${path} does not exist and cannot be appended to`;
  if (draft.documentCount >= DOCUMENTS_MAX) return `a world holds ${DOCUMENTS_MAX} documents`;
  return topologyProblem(draft, path);
}

/** A document is never an ancestor of another, archived or not: why a new path cannot be one. */
export function topologyProblem(state: Snapshot, path: string): string | null {
  for (const ancestor of ancestors(path)) {
    if (state.head(ancestor) !== undefined) return `${ancestor} is a document above ${path}`;
  }
  return state.isDirectory(path) ? `documents lie under ${path}` : null;
}

function notNextVersion(before: DocumentHead, entry: WriteEntry): string | null {
  const { path, version, first } = entry;
  if (before.archived) return `${path} is archived`;
  if (version !== before.version + 1) {
    return `${path} is at version ${before.version}, ${version} does not follow`;
  }
  if (first < before.first) return `${path}: first retained version goes back to ${first}`;
  return null;
}

function applyArchive(draft: SnapshotDraft, entry: ArchiveEntry, at: Sequence): string | null {
  const { path, version, first, archived } = entry;
  const before = draft.head(path);
  if (before === undefined) return `${path} does not exist`;
  if (before.archived === archived) return `${path}: archived is already ${archived}`;
  if (before.version !== version || before.first !== first) {
    return `${path}: an archive entry changes versions`;
  }
  const details = draft.changedDetails(path);
  const { bodyHash, storedHash } = before;
  const head = { version, first, archived, bodyHash, storedHash };
  draft.putDocument(path, before, { ...head, at, details });
  draft.setControl({ ...draft.control, mutation: at });
  return null;
}

function applyControl(draft: SnapshotDraft, entry: ControlEntry, at: Sequence): string | null {
  const next = controlAfter(draft.control, entry, at);
  if (typeof next === 'string') return next;
  draft.setControl(next);
  return null;
}

/** Control state after a control entry, or why the entry cannot follow. */
export function controlAfter(
  control: ControlState,
  entry: ControlEntry,
  at: Sequence,
): ControlState | string {
  switch (entry.kind) {
    case 'floor':
      if (entry.at <= control.floor.at) return 'a floor is never lowered or repeated';
      if (entry.at > at) return 'a floor above its own sequence';
      if (entry.mutation < control.floor.mutation || entry.mutation >= entry.at) {
        return 'a floor names a mutation below it that is not older than the last floor’s';
      }
      return { ...control, floor: { at: entry.at, mutation: entry.mutation } };
    case 'barrier':
      if (control.plan !== null) return `plan ${control.plan} is still open`;
      return {
        ...control,
        epoch: control.epoch + 1,
        plan: entry.plan,
        kept: entry.kept,
        schema1: control.schema1 || entry.schema1 === true,
      };
    case 'clear':
      if (control.plan !== entry.plan) return `plan ${entry.plan} is not open`;
      return { ...control, plan: null };
    case 'pin':
      if (control.pins.some(([id]) => id === entry.id)) return `pin ${entry.id} is there`;
      return { ...control, pins: [...control.pins, [entry.id, at]] };
    case 'unpin':
      if (!control.pins.some(([id]) => id === entry.id)) return `pin ${entry.id} is not there`;
      return { ...control, pins: control.pins.filter(([id]) => id !== entry.id) };
    case 'seal':
      if (control.plan !== null) return `plan ${control.plan} is still open`;
      if (control.pins.length > 0) return `${control.pins.length} pins are held`;
      return { ...control, seal: entry };
    default:
      return assertNever(entry);
  }
}
