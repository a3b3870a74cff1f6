/**
 * The oracle's own decoders of markers, slots and stored versions. They share no code with the
 * store (only the bucket port's types and Node's own crypto and JSON), so that a mistake made there
 * is not made here too. They are short and slow on purpose.
 */
import { createHash } from 'node:crypto';

/** What the oracle found wrong with a world, and in which object. */
export class OracleError extends Error {
  override readonly name = 'OracleError';
  readonly object: string;

  constructor(object: string, problem: string) {
    super(`${object}: ${problem}`);
    this.object = object;
  }
}

/** Throws `OracleError` naming `object` unless `condition` holds. */
export function demand(condition: boolean, object: string, problem: string): asserts condition {
  if (!condition) throw new OracleError(object, problem);
}

/** 64 hex digits. */
export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A marker as it stands in its JSON. */
export interface OracleMarker {
  readonly world_id: string;
  readonly incarnation_id: string;
  readonly start: {
    readonly sequence: number;
    readonly documents: number;
    readonly epoch: number;
    readonly root: { readonly epoch: number; readonly hash: string } | null;
  };
}

/**
 * An entry as it stands in its slot's JSON, with its sequence. Which fields are there follows from
 * `kind`.
 */
export interface OracleEntry {
  readonly sequence: number;
  readonly kind: string;
  readonly op: string;
  readonly verb?: string;
  readonly path?: string;
  readonly version?: number;
  readonly first?: number;
  readonly body_hash?: string;
  readonly stored_hash?: string;
  readonly modified?: number;
  readonly catalog?: {
    readonly title: string;
    readonly metadata: { readonly [key: string]: string } | null;
  };
  readonly at?: 'slot' | { readonly epoch: number } | number;
  readonly archived?: boolean;
  readonly agent?: string;
  readonly group?: number;
  readonly plan?: string;
}

/** A slot: its header, its entries, and the stored versions that it holds, by sequence. */
export interface OracleSlot {
  readonly key: string;
  readonly hash: string;
  readonly world_id: string;
  readonly incarnation_id: string;
  readonly store: string;
  readonly first: number;
  readonly last: number;
  readonly time: number;
  readonly documents: number;
  readonly prev: string;
  readonly epoch: number;
  readonly entries: readonly OracleEntry[];
  readonly inlined: ReadonlyMap<number, Uint8Array>;
}

/** A stored version taken apart. */
export interface OracleStored {
  readonly version: number;
  /** 64 hex, without the prefix; null for version 1. */
  readonly previousHash: string | null;
  readonly metadata: { readonly [key: string]: string } | null;
  readonly body: Uint8Array;
}

export type Loose = { [name: string]: unknown };

/** Decodes `head.json` and checks its own checksum. */
export function decodeMarker(key: string, bytes: Uint8Array): OracleMarker {
  const value = parse(key, Buffer.from(bytes).toString());
  demand(value['schema'] === 2 && value['format'] === 1, key, 'is of another format');
  const { check, ...rest } = value;
  demand(check === sha256(spell(rest)), key, 'check does not match');
  return rest as unknown as OracleMarker;
}

/** Decodes a slot, checks its first line and every inlined hash. */
export function decodeSlot(key: string, bytes: Uint8Array): OracleSlot {
  const buffer = Buffer.from(bytes);
  demand(
    buffer.toString('latin1', 0, 64) === sha256(buffer.subarray(65)),
    key,
    'checksum is wrong',
  );
  demand(buffer[64] === 10, key, 'first line is not 64 digits');
  const end = buffer.indexOf('\n', 65);
  demand(end > 0, key, 'header has no end');
  const header = parse(key, buffer.toString('utf8', 65, end));
  demand(header['schema'] === 2, key, 'is of another schema');
  const first = header['first'] as number;
  const entries = (header['entries'] as Loose[]).map((entry, index) => {
    return { ...entry, sequence: first + index } as unknown as OracleEntry;
  });
  demand(entries.length >= 1 && entries.length <= 256, key, `has ${entries.length} entries`);
  const inlined = new Map<number, Uint8Array>();
  let offset = end + 1;
  for (const [sequence, length, hash] of header['inlined'] as [number, number, string][]) {
    const stored = buffer.subarray(offset, offset + length);
    demand(stored.length === length, key, `ends inside the version of sequence ${sequence}`);
    demand(sha256(stored) === hash, key, `version of sequence ${sequence} has another hash`);
    inlined.set(sequence, Uint8Array.from(stored));
    offset += length;
  }
  demand(offset === buffer.length, key, 'has bytes that belong to nothing');
  const fields = { ...header, key, hash: sha256(buffer), last: first + entries.length - 1 };
  return { ...fields, entries, inlined } as unknown as OracleSlot;
}

/** Takes a stored version apart: fence, the store's own lines, metadata, fence, body. */
export function decodeStored(object: string, bytes: Uint8Array): OracleStored {
  const buffer = Buffer.from(bytes);
  const end = buffer.indexOf('\n---\n', 3);
  demand(buffer.toString('latin1', 0, 4) === '---\n' && end > 0, object, 'has no front matter');
  const lines = buffer.toString('utf8', 4, end).split('\n');
  const version = Number(/^version: ([1-9][0-9]*)$/.exec(lines[0] ?? '')?.[1]);
  demand(Number.isInteger(version), object, 'has no version line');
  demand(lines[1] === 'archived: false', object, 'has no archived line');
  const chain = /^previous-hash: sha256-([0-9a-f]{64})$/.exec(lines[2] ?? '')?.[1] ?? null;
  demand((chain === null) === (version === 1), object, 'previous-hash does not fit its version');
  const metadata: { [key: string]: string } = {};
  for (const line of lines.slice(chain === null ? 2 : 3)) {
    const [, key = '', value = ''] = /^(?:meta\.)?([a-z0-9-]+): (.*)$/s.exec(line) ?? [];
    demand(key !== '' && !(key in metadata), object, `has a line that is none: ${line}`);
    metadata[key] = key === 'tags' ? value.slice(1, -1).split(', ').join(',') : value;
  }
  const some = Object.keys(metadata).length > 0;
  const body = Uint8Array.from(buffer.subarray(end + 5));
  return { version, previousHash: chain, metadata: some ? metadata : null, body };
}

/** Whether two metadata maps say the same. */
export function sameMetadata(
  a: { readonly [key: string]: string } | null,
  b: { readonly [key: string]: string } | null,
): boolean {
  return spell(a) === spell(b);
}

/** The object that canonical JSON says. @throws OracleError naming the object that it is of */
export function parse(key: string, text: string): Loose {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new OracleError(key, 'is not JSON');
  }
  demand(typeof value === 'object' && value !== null && !Array.isArray(value), key, 'no object');
  demand(spell(value) === text, key, 'is not spelled canonically');
  return value as Loose;
}

/** Canonical JSON, once more: members sorted, nothing between. */
export function spell(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spell).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${spell(item)}`).join(',')}}`;
}
