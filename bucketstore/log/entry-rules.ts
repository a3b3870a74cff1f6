/**
 * What an entry may say by itself, whatever the log before it. One set of rules for both sides of
 * the bucket: the encoder asserts them, the decoder refuses by them. A problem begins with the
 * field's name as the format spells it.
 */
import { isSha256Hex } from '../base/digest.ts';
import { isUuid } from '../base/uuid.ts';
import { checkMetadata, type Metadata, splitTags } from '../document/metadata.ts';
import { isDocumentPath } from '../document/path.ts';
import { EPOCH_MAX } from './names.ts';
import {
  type ArchiveEntry,
  type BarrierEntry,
  type ControlEntry,
  type Entry,
  GROUP_ENTRIES_MAX,
  type MutationEntry,
  type SealEntry,
  VERSION_MAX,
  type WriteEntry,
} from './records.ts';

const TITLE_BYTES_MAX = 1024;
const AGENT_BYTES_MAX = 1024;
const OWNER_BYTES_MAX = 256;
const LOCATION_BYTES_MAX = 2048;
/** 9999-12-31T23:59:59Z: the last second with a four-digit year. */
export const SECONDS_MAX = 253_402_300_799;

/** A pin's name: chosen by who pins, safe to show and to type. */
const PIN_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** What is wrong with an entry, or null. */
export function entryProblem(entry: Entry): string | null {
  if (!isUuid(entry.op)) return 'op: not a UUID';
  switch (entry.kind) {
    case 'write':
      return mutationProblem(entry) ?? writeProblem(entry);
    case 'archive':
      return mutationProblem(entry);
    default:
      return controlProblem(entry);
  }
}

/** Whether an entry changes a document, or is alone in its slot. */
export function isMutation(entry: Entry): entry is MutationEntry {
  return entry.kind === 'write' || entry.kind === 'archive';
}

/**
 * The `agent` of a write with this metadata: what feeds repeat. Absent when the metadata has none,
 * or an empty one.
 */
export function agentOf(metadata: Metadata | null): string | undefined {
  const agent = metadata?.['agent'];
  return agent === '' ? undefined : agent;
}

/** Null when `value` is an integer of `min` to `max`. */
export function rangeProblem(
  field: string,
  value: number,
  min: number,
  max: number,
): string | null {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return null;
  return `${field}: ${value} is not ${min} to ${max}`;
}

/** Null when `value` is 64 lower-case hex digits. */
export function hashProblem(field: string, value: string): string | null {
  return isSha256Hex(value) ? null : `${field}: not 64 lower-case hex digits`;
}

/** Null when `value` is a UUID. */
export function uuidProblem(field: string, value: string): string | null {
  return isUuid(value) ? null : `${field}: not a UUID`;
}

function mutationProblem(entry: WriteEntry | ArchiveEntry): string | null {
  if (!isDocumentPath(entry.path)) return 'path: not a canonical document path';
  return (
    rangeProblem('version', entry.version, 1, VERSION_MAX) ??
    rangeProblem('first', entry.first, 1, entry.version) ??
    (entry.agent === undefined ? null : agentProblem(entry.agent)) ??
    (entry.group === undefined ? null : rangeProblem('group', entry.group, 2, GROUP_ENTRIES_MAX))
  );
}

function writeProblem(entry: WriteEntry): string | null {
  const { title, metadata } = entry.catalog;
  return (
    hashProblem('body_hash', entry.bodyHash) ??
    hashProblem('stored_hash', entry.storedHash) ??
    rangeProblem('modified', entry.modified, 0, SECONDS_MAX) ??
    (entry.at === 'slot' ? null : rangeProblem('at.epoch', entry.at.epoch, 1, EPOCH_MAX)) ??
    textProblem('catalog.title', title, TITLE_BYTES_MAX) ??
    metadataProblem(metadata) ??
    (entry.agent === agentOf(metadata) ? null : 'agent: not the agent of the metadata')
  );
}

/**
 * Metadata is as a stored version gives it back: valid, its tags respelled, null when there is
 * none.
 */
function metadataProblem(metadata: Metadata | null): string | null {
  if (metadata === null) return null;
  const problem = checkMetadata(metadata);
  if (problem !== null) {
    const field = problem.key === null ? '' : `.${problem.key}`;
    return `catalog.metadata${field}: ${problem.reason}`;
  }
  const tags = metadata['tags'];
  if (tags !== undefined && splitTags(tags).join(',') !== tags) {
    return 'catalog.metadata.tags: not as a stored version gives them back';
  }
  return isEmpty(metadata) ? 'catalog.metadata: empty, must be null' : null;
}

function isEmpty(metadata: Metadata): boolean {
  for (const _ in metadata) return false;
  return true;
}

/** An agent is a metadata value: one line of text, and never empty here. */
function agentProblem(agent: string): string | null {
  if (/[\r\n]/.test(agent)) return 'agent: more than one line';
  return textProblem('agent', agent, AGENT_BYTES_MAX);
}

function textProblem(field: string, text: string, bytesMax: number): string | null {
  if (text === '') return `${field}: empty`;
  if (!text.isWellFormed()) return `${field}: not well-formed text`;
  const bytes = Buffer.byteLength(text);
  return bytes > bytesMax ? `${field}: ${bytes} bytes, more than ${bytesMax}` : null;
}

function controlProblem(entry: ControlEntry): string | null {
  switch (entry.kind) {
    case 'floor':
      return (
        rangeProblem('at', entry.at, 2, Number.MAX_SAFE_INTEGER) ??
        rangeProblem('mutation', entry.mutation, 1, entry.at - 1)
      );
    case 'barrier':
      return barrierProblem(entry);
    case 'clear':
      return hashProblem('plan', entry.plan);
    case 'pin':
      return (
        pinIdProblem('id', entry.id) ??
        textProblem('owner', entry.owner, OWNER_BYTES_MAX) ??
        rangeProblem('expires', entry.expires, 0, SECONDS_MAX)
      );
    case 'unpin':
      return pinIdProblem('id', entry.id);
    case 'seal':
      return sealProblem(entry);
  }
}

function barrierProblem(entry: BarrierEntry): string | null {
  if (entry.kept.length === 0) return 'kept: empty';
  return keptProblem(entry.kept) ?? hashProblem('plan', entry.plan);
}

/** Null when kept checkpoints have a sequence and an epoch each, in ascending order. */
export function keptProblem(kept: BarrierEntry['kept']): string | null {
  let before: readonly [number, number] = [0, 0];
  for (const [index, [at, epoch]] of kept.entries()) {
    const problem =
      rangeProblem(`kept[${index}][0]`, at, 1, Number.MAX_SAFE_INTEGER) ??
      rangeProblem(`kept[${index}][1]`, epoch, 1, EPOCH_MAX);
    if (problem !== null) return problem;
    const [atBefore, epochBefore] = before;
    if (at < atBefore || (at === atBefore && epoch <= epochBefore)) {
      return `kept[${index}]: not ascending`;
    }
    before = [at, epoch];
  }
  return null;
}

function sealProblem(entry: SealEntry): string | null {
  if (entry.reason === 'move' && (entry.successor === undefined || entry.location === undefined)) {
    return 'reason: a move names its successor and location';
  }
  return (
    (entry.successor === undefined ? null : uuidProblem('successor', entry.successor)) ??
    (entry.location === undefined
      ? null
      : textProblem('location', entry.location, LOCATION_BYTES_MAX))
  );
}

/** Null when `id` can name a pin. */
export function pinIdProblem(field: string, id: string): string | null {
  return PIN_ID.test(id) ? null : `${field}: not 1 to 128 of A-Z, a-z, 0-9, ".", "_", "-"`;
}
