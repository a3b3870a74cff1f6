/**
 * What a slot may say by itself, beyond what holds for each of its entries. Asserted before a slot
 * is written, refused after one is read. A problem begins with the field's name as the format
 * spells it.
 */
import { hashProblem, isMutation, rangeProblem, uuidProblem } from './entry-rules.ts';
import { EPOCH_MAX } from './names.ts';
import {
  DOCUMENTS_MAX,
  type Entry,
  INLINE_BYTES_MAX,
  SLOT_ENTRIES_MAX,
  SLOT_INLINED_BYTES_MAX,
  type Slot,
} from './records.ts';

/** What is wrong with a slot whose entries are right one by one, or null. */
export function slotProblem(slot: Slot): string | null {
  return (
    headerProblem(slot) ??
    opsProblem(slot.entries) ??
    groupsProblem(slot.entries) ??
    controlProblem(slot) ??
    placesProblem(slot)
  );
}

function headerProblem(slot: Slot): string | null {
  const { first, entries } = slot;
  return (
    uuidProblem('world_id', slot.worldId) ??
    uuidProblem('incarnation_id', slot.incarnationId) ??
    uuidProblem('store', slot.store) ??
    hashProblem('prev', slot.prev) ??
    // 1 is genesis, or an earlier start: no slot holds it.
    rangeProblem('first', first, 2, Number.MAX_SAFE_INTEGER) ??
    rangeProblem('entries.length', entries.length, 1, SLOT_ENTRIES_MAX) ??
    // The inner sum first: 2^53 + 1 is no double, and rounding would bring it back below the limit.
    rangeProblem('last', first + (entries.length - 1), first, Number.MAX_SAFE_INTEGER) ??
    rangeProblem('time', slot.time, 0, Number.MAX_SAFE_INTEGER) ??
    rangeProblem('documents', slot.documents, 0, DOCUMENTS_MAX) ??
    rangeProblem('epoch', slot.epoch, 1, EPOCH_MAX)
  );
}

/** `operation` answers by op: two entries with one would have two answers. */
function opsProblem(entries: readonly Entry[]): string | null {
  const ops = new Set<string>();
  for (const [index, { op }] of entries.entries()) {
    if (ops.has(op)) return `entries[${index}].op: twice in the slot`;
    ops.add(op);
  }
  return null;
}

/** A group is never split over slots: it commits with the one create, or not at all. */
function groupsProblem(entries: readonly Entry[]): string | null {
  let end = 0;
  for (const [index, entry] of entries.entries()) {
    if (!isMutation(entry) || entry.group === undefined) continue;
    if (index < end) return `entries[${index}].group: inside another group`;
    end = index + entry.group;
    if (end > entries.length) return `entries[${index}].group: beyond the end of the slot`;
  }
  return null;
}

function controlProblem(slot: Slot): string | null {
  const index = slot.entries.findIndex((entry) => !isMutation(entry));
  const entry = slot.entries[index];
  if (entry === undefined) return null;
  if (slot.entries.length > 1) return `entries[${index}].kind: ${entry.kind} is alone in its slot`;
  if (entry.kind === 'floor' && entry.at > slot.first) {
    return `entries[0].at: ${entry.at} is above the entry's own sequence`;
  }
  if (entry.kind === 'barrier') {
    const late = entry.kept.findIndex(([at, epoch]) => at >= slot.first || epoch > slot.epoch);
    if (late >= 0) return `entries[0].kept[${late}]: not before the barrier`;
  }
  return null;
}

/** Every stored version lies where its entry says, and nothing else lies in the slot (I8). */
function placesProblem(slot: Slot): string | null {
  let item = 0;
  let total = 0;
  for (const [index, entry] of slot.entries.entries()) {
    if (entry.kind !== 'write') continue;
    if (entry.at !== 'slot') {
      if (entry.at.epoch !== slot.epoch) return `entries[${index}].at.epoch: not the slot's epoch`;
      continue;
    }
    const inlined = slot.inlined[item];
    if (inlined?.sequence !== slot.first + index) return `inlined[${item}]: not entry ${index}'s`;
    if (inlined.hash !== entry.storedHash)
      return `inlined[${item}][2]: not the entry's stored_hash`;
    const problem = rangeProblem(`inlined[${item}][1]`, inlined.length, 1, INLINE_BYTES_MAX);
    if (problem !== null) return problem;
    total += inlined.length;
    item++;
  }
  if (item < slot.inlined.length) return `inlined[${item}]: belongs to no entry`;
  return rangeProblem('inlined', total, 0, SLOT_INLINED_BYTES_MAX);
}
