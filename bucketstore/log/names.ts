/**
 * Keys of a world's objects, all under `_demarkus/v1/`. `keyOf` and `parseKey` are inverses: a key
 * has one meaning and a meaning one key, so no stored record ever holds a key.
 *
 * A sequence or an epoch in a key has a fixed width, so that byte order is numeric order.
 * Checkpoints count down from 2^53 − 1: the newest comes first in a list.
 */
import { assert } from '../base/assert.ts';
import { isSha256Hex } from '../base/digest.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { isUuid } from '../base/uuid.ts';

export const WORLD_PREFIX = '_demarkus/v1/';
export const MARKER_KEY: string = `${WORLD_PREFIX}head.json`;
/**
 * Every name below it is a slot's; one that does not parse is an integrity error, never "absent".
 */
export const LOG_PREFIX: string = `${WORLD_PREFIX}log/`;
export const CHECKPOINTS_PREFIX: string = `${WORLD_PREFIX}checkpoints/`;
/** Names the probe uses, and removes after itself. */
export const PROBE_PREFIX: string = `${WORLD_PREFIX}probe/`;

/** Epochs are 8 hex digits in keys; 0 is schema 1's. */
export const EPOCH_MAX = 0xffff_ffff;

export type IndexKind = 'run' | 'seg' | 'rec' | 'txt';
const INDEX_KINDS: readonly string[] = ['run', 'seg', 'rec', 'txt'] satisfies IndexKind[];

/** An object under the hash of its bytes, and the epoch it was written in. */
interface Addressed<K extends string> {
  readonly kind: K;
  readonly epoch: number;
  readonly hash: string;
}

/** What a key says. */
export type ObjectName =
  | { readonly kind: 'marker' }
  | { readonly kind: 'slot'; readonly first: Sequence }
  /** Epoch 0: `blobs/<hash>`, as schema 1 wrote it. */
  | Addressed<'blob'>
  | Addressed<'pack'>
  | { readonly kind: 'checkpoint'; readonly sequence: Sequence; readonly epoch: number }
  | Addressed<'root'>
  | {
      readonly kind: 'index';
      readonly type: IndexKind;
      readonly epoch: number;
      readonly hash: string;
    }
  /** Epoch 0: `history/<hash>.json`, as schema 1 wrote it. */
  | Addressed<'history'>
  | { readonly kind: 'plan'; readonly hash: string }
  | { readonly kind: 'probe'; readonly id: string };

/**
 * The key of an object.
 * @throws InvariantError for an epoch or a hash that no key can hold
 */
export function keyOf(name: ObjectName): string {
  switch (name.kind) {
    case 'marker':
      return MARKER_KEY;
    case 'slot':
      return slotKey(name.first);
    case 'blob':
      return blobKey(name.epoch, name.hash);
    case 'pack':
      return `${WORLD_PREFIX}packs/${epochHex(name.epoch)}/${checkedHash(name.hash)}`;
    case 'checkpoint':
      return checkpointKey(name.sequence, name.epoch);
    case 'root':
      return `${WORLD_PREFIX}roots/${epochHex(name.epoch)}/${checkedHash(name.hash)}.json`;
    case 'index':
      return `${WORLD_PREFIX}index/${epochHex(name.epoch)}/${checkedHash(name.hash)}.${name.type}`;
    case 'history':
      return `${WORLD_PREFIX}history/${epochFolder(name.epoch)}${checkedHash(name.hash)}.json`;
    case 'plan':
      return `${WORLD_PREFIX}plans/${checkedHash(name.hash)}.json`;
    case 'probe':
      assert(isUuid(name.id), () => `a probe is named by a UUID, got ${name.id}`);
      return `${PROBE_PREFIX}${name.id}`;
  }
}

/** The key of the slot whose first entry has this sequence. */
export function slotKey(first: Sequence): string {
  return `${LOG_PREFIX}${sequenceHex(first)}.slot`;
}

/** The key of a stored version that was staged in an epoch; epoch 0 is schema 1's. */
export function blobKey(epoch: number, hash: string): string {
  return `${WORLD_PREFIX}blobs/${epochFolder(epoch)}${checkedHash(hash)}`;
}

/** The key of the checkpoint record at a sequence, written in an epoch. */
export function checkpointKey(at: Sequence, epoch: number): string {
  const countdown = sequenceHex(Number.MAX_SAFE_INTEGER - at);
  return `${CHECKPOINTS_PREFIX}${countdown}.${epochHex(epoch)}.json`;
}

/**
 * What a key says, or null when it says nothing. The caller decides what that means: under `log/`
 * it is an integrity error.
 */
export function parseKey(key: string): ObjectName | null {
  if (key === MARKER_KEY) return { kind: 'marker' };
  if (!key.startsWith(WORLD_PREFIX)) return null;
  const [folder = '', ...rest] = key.slice(WORLD_PREFIX.length).split('/');
  const file = rest.at(-1);
  if (file === undefined || rest.length > 2) return null;
  if (rest.length === 2) return parseAddressed(folder, parseEpoch(rest[0] ?? ''), file);
  return parseFlat(folder, file);
}

/** The first sequence that a slot's key names, or null for any other key. */
export function parseSlotKey(key: string): Sequence | null {
  const name = parseKey(key);
  return name?.kind === 'slot' ? name.first : null;
}

/** `folder/<epoch>/<hash>[.extension]` */
function parseAddressed(folder: string, epoch: number | null, file: string): ObjectName | null {
  if (epoch === null || epoch < 1) return null;
  const hash = file.slice(0, 64);
  const extension = file.slice(64);
  if (!isSha256Hex(hash)) return null;
  switch (folder) {
    case 'blobs':
      return extension === '' ? { kind: 'blob', epoch, hash } : null;
    case 'packs':
      return extension === '' ? { kind: 'pack', epoch, hash } : null;
    case 'roots':
      return extension === '.json' ? { kind: 'root', epoch, hash } : null;
    case 'history':
      return extension === '.json' ? { kind: 'history', epoch, hash } : null;
    case 'index':
      return isIndexExtension(extension)
        ? { kind: 'index', type: extension.slice(1) as IndexKind, epoch, hash }
        : null;
    default:
      return null;
  }
}

/** `folder/file` */
function parseFlat(folder: string, file: string): ObjectName | null {
  switch (folder) {
    case 'log': {
      const first = file.endsWith('.slot') ? parseSequence(file.slice(0, -5)) : null;
      return first === null ? null : { kind: 'slot', first };
    }
    case 'checkpoints':
      return parseCheckpoint(file);
    case 'blobs':
      return isSha256Hex(file) ? { kind: 'blob', epoch: 0, hash: file } : null;
    case 'history':
    case 'plans': {
      const hash = file.slice(0, 64);
      if (!isSha256Hex(hash) || file.slice(64) !== '.json') return null;
      return folder === 'plans' ? { kind: 'plan', hash } : { kind: 'history', epoch: 0, hash };
    }
    case 'probe':
      return isUuid(file) ? { kind: 'probe', id: file } : null;
    default:
      return null;
  }
}

function parseCheckpoint(file: string): ObjectName | null {
  const [countdown = '', epochText = '', extension, ...rest] = file.split('.');
  if (extension !== 'json' || rest.length > 0) return null;
  const epoch = parseEpoch(epochText);
  const down = parseHex(countdown, 16);
  if (epoch === null || epoch < 1 || down === null) return null;
  const at = Number.MAX_SAFE_INTEGER - down;
  return at < 1 ? null : { kind: 'checkpoint', sequence: sequence(at), epoch };
}

function isIndexExtension(extension: string): boolean {
  return extension.startsWith('.') && INDEX_KINDS.includes(extension.slice(1));
}

function parseSequence(text: string): Sequence | null {
  const value = parseHex(text, 16);
  return value === null || value < 1 ? null : sequence(value);
}

function parseEpoch(text: string): number | null {
  return parseHex(text, 8);
}

/** The safe integer that exactly `width` lower-case hex digits spell, else null. */
function parseHex(text: string, width: number): number | null {
  if (text.length !== width || !/^[0-9a-f]+$/.test(text)) return null;
  const value = Number.parseInt(text, 16);
  return Number.isSafeInteger(value) ? value : null;
}

function sequenceHex(value: number): string {
  return value.toString(16).padStart(16, '0');
}

function epochFolder(epoch: number): string {
  return epoch === 0 ? '' : `${epochHex(epoch)}/`;
}

function epochHex(epoch: number): string {
  assert(
    Number.isInteger(epoch) && epoch >= 1 && epoch <= EPOCH_MAX,
    () => `an epoch is 1 to ${EPOCH_MAX}, got ${epoch}`,
  );
  return epoch.toString(16).padStart(8, '0');
}

function checkedHash(hash: string): string {
  assert(isSha256Hex(hash), () => `a hash is 64 lower-case hex digits, got ${hash}`);
  return hash;
}
