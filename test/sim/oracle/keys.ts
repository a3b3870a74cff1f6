/** The oracle's own reading of keys and records: what an object of a world is, by its name. */
import { OracleError, sha256, spell } from '../../oracle/objects.ts';

const PREFIX = '_demarkus/v1/';
const MARKER = `${PREFIX}head.json`;

export type OracleKey =
  | { readonly kind: 'marker' | 'probe' | 'plan' | 'other' }
  | { readonly kind: 'slot'; readonly first: number }
  | { readonly kind: 'blob'; readonly epoch: number; readonly hash: string }
  | { readonly kind: 'checkpoint'; readonly sequence: number; readonly epoch: number }
  | DerivedKey;

/** An object that checkpoints consist of, under the hash of its bytes. */
export interface DerivedKey {
  readonly kind: 'derived';
  readonly type: DerivedType;
  readonly epoch: number;
  readonly hash: string;
}

export type DerivedType = 'root' | 'run' | 'segment' | 'records' | 'history' | 'pack';

/** Folder and ending of each. */
const DERIVED: Readonly<Record<DerivedType, readonly [folder: string, ending: string]>> = {
  root: ['roots', '.json'],
  run: ['index', '.run'],
  segment: ['index', '.seg'],
  records: ['index', '.rec'],
  history: ['history', '.json'],
  pack: ['packs', ''],
};
const DERIVED_TYPES = Object.keys(DERIVED) as readonly DerivedType[];

const SLOT = /^log\/([0-9a-f]{16})\.slot$/;
const BLOB = /^blobs\/([0-9a-f]{8})\/([0-9a-f]{64})$/;
const CHECKPOINT = /^checkpoints\/([0-9a-f]{16})\.([0-9a-f]{8})\.json$/;
const ADDRESSED = /^([a-z]+)\/([0-9a-f]{8})\/([0-9a-f]{64})(\.[a-z]+|)$/;

/** What a key says; `other` when no store of this format has a use for it. */
export function readKey(key: string): OracleKey {
  if (key === MARKER) return { kind: 'marker' };
  if (!key.startsWith(PREFIX)) return { kind: 'other' };
  const name = key.slice(PREFIX.length);
  const slot = SLOT.exec(name);
  if (slot !== null) return { kind: 'slot', first: hex(slot[1]) };
  const blob = BLOB.exec(name);
  if (blob !== null) return { kind: 'blob', epoch: hex(blob[1]), hash: blob[2] ?? '' };
  const checkpoint = CHECKPOINT.exec(name);
  if (checkpoint !== null) {
    const sequence = Number.MAX_SAFE_INTEGER - hex(checkpoint[1]);
    return { kind: 'checkpoint', sequence, epoch: hex(checkpoint[2]) };
  }
  const derived = ADDRESSED.exec(name);
  const type = DERIVED_TYPES.find((one) => {
    const [folder, ending] = DERIVED[one];
    return derived?.[1] === folder && derived[4] === ending;
  });
  if (derived !== null && type !== undefined) {
    return { kind: 'derived', type, epoch: hex(derived[2]), hash: derived[3] ?? '' };
  }
  if (name.startsWith('probe/')) return { kind: 'probe' };
  if (/^plans\/[0-9a-f]{64}\.json$/.test(name)) return { kind: 'plan' };
  return { kind: 'other' };
}

export function blobKey(epoch: number, hash: string): string {
  return `${PREFIX}blobs/${digits(epoch, 8)}/${hash}`;
}

export function derivedKey(
  type: DerivedType,
  { epoch, hash }: { readonly epoch: number; readonly hash: string },
): string {
  const [folder, ending] = DERIVED[type];
  return `${PREFIX}${folder}/${digits(epoch, 8)}/${hash}${ending}`;
}

export function recordKey(sequence: number, epoch: number): string {
  const down = digits(Number.MAX_SAFE_INTEGER - sequence, 16);
  return `${PREFIX}checkpoints/${down}.${digits(epoch, 8)}.json`;
}

function digits(value: number, width: number): string {
  return value.toString(16).padStart(width, '0');
}

/** What the oracle checks of a checkpoint record: that it is of this log, and tells the truth. */
export interface OracleRecord {
  readonly world_id: string;
  readonly incarnation_id: string;
  readonly sequence: number;
  readonly slot: string;
  readonly time: number;
  readonly documents: number;
  /** Of the state; the record was written in `root.epoch`, as its name says. */
  readonly epoch: number;
  readonly root: { readonly epoch: number; readonly hash: string };
  readonly floor: { readonly at: number; readonly mutation: number };
}

/**
 * Decodes a checkpoint record and checks its own checksum.
 * @throws OracleError naming it
 */
export function decodeRecord(key: string, bytes: Uint8Array): OracleRecord {
  let value: { readonly [name: string]: unknown };
  try {
    value = JSON.parse(Buffer.from(bytes).toString());
  } catch {
    throw new OracleError(key, 'is not JSON');
  }
  const { check, ...rest } = value;
  if (check !== sha256(spell(rest))) throw new OracleError(key, 'check does not match');
  return rest as unknown as OracleRecord;
}

/** What an error of a decoder says; any other error is the oracle's own and goes on. */
export function problemOf(error: unknown): string {
  if (!(error instanceof OracleError)) throw error;
  return error.message;
}

function hex(digits: string | undefined): number {
  return Number.parseInt(digits ?? '', 16);
}
