/** The oracle's own reading of keys and records: what an object of a world is, by its name. */
import { OracleError, sha256 } from '../../oracle/objects.ts';

const PREFIX = '_demarkus/v1/';
const MARKER = `${PREFIX}head.json`;

export type OracleKey =
  | { readonly kind: 'marker' | 'probe' | 'plan' | 'other' }
  | { readonly kind: 'slot'; readonly first: number }
  | { readonly kind: 'blob'; readonly epoch: number; readonly hash: string }
  | { readonly kind: 'checkpoint'; readonly sequence: number; readonly epoch: number };

const SLOT = /^log\/([0-9a-f]{16})\.slot$/;
const BLOB = /^blobs\/([0-9a-f]{8})\/([0-9a-f]{64})$/;
const CHECKPOINT = /^checkpoints\/([0-9a-f]{16})\.([0-9a-f]{8})\.json$/;

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
  if (name.startsWith('probe/')) return { kind: 'probe' };
  if (/^plans\/[0-9a-f]{64}\.json$/.test(name)) return { kind: 'plan' };
  return { kind: 'other' };
}

export function blobKey(epoch: number, hash: string): string {
  return `${PREFIX}blobs/${epoch.toString(16).padStart(8, '0')}/${hash}`;
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
  readonly root: { readonly epoch: number };
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

/** Canonical JSON: members sorted, nothing between. */
function spell(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spell).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${spell(item)}`).join(',')}}`;
}
