/**
 * A ghost log fed by hand: slots as a right store would write them, one thing made wrong where a
 * test says so, and the answers that their clients would get.
 */
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { type Sequence, sequence } from '../../bucketstore/base/sequence.ts';
import type { Metadata } from '../../bucketstore/document/metadata.ts';
import { storeVersion } from '../../bucketstore/document/stored.ts';
import { encodeMarker, genesisMarker } from '../../bucketstore/log/marker.ts';
import { blobKey, MARKER_KEY, slotKey } from '../../bucketstore/log/names.ts';
import type { Entry } from '../../bucketstore/log/records.ts';
import { encodeSlot, type SlotInput } from '../../bucketstore/log/slot.ts';
import { INCARNATION, STORE, uuidOf, WORLD } from '../log/values.ts';
import type { TakenMutation } from './history.ts';
import { GhostLog } from './oracle/ghost-log.ts';

/** One change of a slot. */
export interface ForgedChange {
  readonly path: string;
  /** The body; null archives. */
  readonly text: string | null;
  readonly op?: string;
  readonly verb?: 'publish' | 'append';
  readonly metadata?: Metadata | null;
  readonly staged?: boolean;
  readonly group?: number;
  /** Fields of the entry that a test spoils. */
  readonly spoil?: { readonly [field: string]: unknown };
  /** Stored bytes, when they shall be wrong. */
  readonly stored?: Uint8Array;
}

interface Now {
  readonly version: number;
  readonly etag: string;
  readonly archived: boolean;
}

export class ForgedWorld {
  readonly ghost: GhostLog = new GhostLog();
  readonly #now = new Map<string, Now>();
  #tip: { readonly sequence: number; readonly hash: string } = { sequence: 1, hash: '' };
  #ops = 0;
  epoch = 1;

  constructor() {
    const marker = encodeMarker(genesisMarker(WORLD, INCARNATION));
    this.ghost.landed(MARKER_KEY, marker, 0);
    this.#tip = { sequence: 1, hash: sha256Hex(marker) };
  }

  get tip(): number {
    return this.#tip.sequence;
  }

  get tipHash(): string {
    return this.#tip.hash;
  }

  /** Lands a slot of changes, their blobs before it. @returns what their clients are told */
  slot(
    at: number,
    changes: readonly ForgedChange[],
    spoil: Partial<SlotInput> = {},
  ): readonly TakenMutation[] {
    const first = this.#tip.sequence + 1;
    const taken: TakenMutation[] = [];
    const entries: Entry[] = [];
    const bodies: { sequence: Sequence; bytes: Uint8Array }[] = [];
    for (const [index, change] of changes.entries()) {
      const place = sequence(first + index);
      const { entry, bytes, now } = this.#entry(change);
      entries.push(entry);
      taken.push({ path: change.path, ...now, committed: true, sequence: place });
      if (bytes === null) continue;
      if (change.staged === true)
        this.ghost.landed(blobKey(this.epoch, sha256Hex(bytes)), bytes, at);
      else bodies.push({ sequence: place, bytes });
    }
    this.land(at, { entries, bodies, ...spoil });
    return taken;
  }

  /** Lands a control entry in a slot of its own. */
  control(at: number, entry: { readonly kind: string; readonly [field: string]: unknown }): void {
    const whole = { op: uuidOf(0xc000 + this.#ops++), ...entry } as unknown as Entry;
    this.land(at, { entries: [whole], bodies: [] });
    if (entry.kind === 'barrier') this.epoch += 1;
  }

  /** Lands a slot at the tip, which it becomes. @returns its key */
  land(at: number, input: Pick<SlotInput, 'entries' | 'bodies'> & Partial<SlotInput>): string {
    const { bytes, key, last, hash } = this.encode(input);
    this.#tip = { sequence: last, hash };
    this.ghost.landed(key, bytes, at);
    return key;
  }

  /** A slot for the tip, or for another place. */
  encode(input: Pick<SlotInput, 'entries' | 'bodies'> & Partial<SlotInput>): {
    readonly key: string;
    readonly bytes: Uint8Array;
    readonly last: number;
    readonly hash: string;
  } {
    const first = input.first ?? sequence(this.#tip.sequence + 1);
    const frame = { worldId: WORLD, incarnationId: INCARNATION, store: STORE, epoch: this.epoch };
    const place = { first, prev: this.#tip.hash, time: 1000 + first, documents: this.#now.size };
    const { bytes, hash, slot } = encodeSlot({ ...frame, ...place, ...input });
    return { key: slotKey(first), bytes, last: slot.last, hash };
  }

  #entry(change: ForgedChange): { entry: Entry; bytes: Uint8Array | null; now: Now } {
    const { path, text, op = uuidOf(0xf000 + this.#ops++), group } = change;
    const before = this.#now.get(path);
    const common = { op, path, first: 1, ...(group === undefined ? {} : { group }) };
    if (text === null) {
      const { version = 1, etag = '', archived = false } = before ?? {};
      const now = { version, etag, archived: !archived };
      this.#now.set(path, now);
      const entry = { kind: 'archive', ...common, version, archived: !archived, ...change.spoil };
      return { entry: entry as Entry, bytes: null, now };
    }
    const { metadata = null, verb = 'publish', staged = false } = change;
    const version = (before?.version ?? 0) + 1;
    const body = new TextEncoder().encode(text);
    const previousHash = before?.etag ?? null;
    const bytes = change.stored ?? storeVersion({ version, previousHash, metadata, body });
    const etag = sha256Hex(bytes);
    const now = { version, etag, archived: false };
    this.#now.set(path, now);
    const hashes = { bodyHash: sha256Hex(body), storedHash: etag };
    const at = staged ? { epoch: this.epoch } : 'slot';
    const catalog = { title: path.slice(1, 100), metadata };
    const fields = { kind: 'write', ...common, verb, version, modified: 1, catalog, at };
    return { entry: { ...fields, ...hashes, ...change.spoil } as Entry, bytes, now };
  }
}

/** A checkpoint record as it stands in the bucket, with a check that is right. */
export function forgedRecord(fields: { readonly [name: string]: unknown }): Uint8Array {
  const body = { world_id: WORLD, incarnation_id: INCARNATION, ...fields };
  const check = sha256Hex(spell(body));
  return new TextEncoder().encode(spell({ ...body, check }));
}

function spell(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${spell(item)}`).join(',')}}`;
}
