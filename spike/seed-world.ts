/**
 * Makes a world that is large from its first moment on: documents as a checkpoint has them, and a
 * marker that starts from it. Nothing goes through the log, so a million documents take a minute or
 * two, and not the hour that as many commits would.
 */
import { assertUsable, type BlobStore, probe } from '../blob/index.ts';
import { sha256Hex } from '../bucketstore/base/digest.ts';
import { StoreError } from '../bucketstore/base/errors.ts';
import { atOnce } from '../bucketstore/base/in-turns.ts';
import { type Sequence, sequence } from '../bucketstore/base/sequence.ts';
import { catalogOf } from '../bucketstore/document/catalog.ts';
import { storeVersion } from '../bucketstore/document/stored.ts';
import { assertEmpty, createMarker, readMarker } from '../bucketstore/genesis.ts';
import { bucketFailure } from '../bucketstore/log/failure.ts';
import { encodeIndexEntry } from '../checkpoint/index-entry.ts';
import { ObjectWriter } from '../checkpoint/object-writer.ts';
import { type PackRef, packKey } from '../checkpoint/pack.ts';
import { PackCutter } from '../checkpoint/pack-cutter.ts';
import { encodeRecordEntry } from '../checkpoint/record-entry.ts';
import { encodeRoot, type RootRef, type RunRef, rootKey } from '../checkpoint/root.ts';
import { RunBuilder } from '../checkpoint/run-builder.ts';
import {
  encodeRunManifest,
  type RunKind,
  runKey,
  runManifest,
  TABLE_KINDS,
} from '../checkpoint/run-manifest.ts';
import { SegmentRun } from '../checkpoint/segment-run.ts';
import type { BuiltTable } from '../checkpoint/table-builder.ts';
import { type TableRef, tableKey } from '../checkpoint/table-directory.ts';
import type { Machine } from './machine.ts';
import type { SeedDocument, SeedDocuments } from './seed-documents.ts';
import { Sending } from './sending.ts';

/** The epoch that a world begins in. */
const EPOCH = 1;
/** Sequence 1 is genesis: the first document's is the next. */
const FIRST_SEQUENCE = 2;
/** When every document was written, s since the epoch: objects follow from the seed alone. */
const MODIFIED = 1_767_225_600;
const OBJECTS_AT_ONCE = 8;
/** Documents between two looks at the signal, and at what else is due. */
const TURN_DOCUMENTS = 64;
const TOLD_DOCUMENTS = 8_192;

/** What seeding came to. */
export interface Seeded {
  readonly worldId: string;
  /** Objects of the checkpoint that the world starts from, and their bytes; the marker apart. */
  readonly objects: number;
  readonly bytes: number;
  readonly packBytes: number;
  /** Bytes of the documents' entries. */
  readonly entryBytes: number;
}

/**
 * Makes the world at an empty location: objects named by their content first, the marker last. What
 * one that was interrupted has left is not written again by the same call, but read and compared.
 * One `create` for each object of some MB; 2 KB for each document of 1 KiB.
 * @throws StoreError `LOCATION` when a world is there, or what is not a world's; BlobError or
 *   StoreError when the location cannot be used; the signal's reason
 */
export async function seedWorld(
  machine: Machine,
  bucket: BlobStore,
  documents: SeedDocuments,
): Promise<Seeded> {
  const { clock, random, signal } = machine;
  const parts = { bucket, clock, random, signal };
  const there = await readMarker(parts);
  if (there !== null) throw taken(bucket, there.marker.worldId);
  await assertEmpty(parts);
  try {
    assertUsable(await probe(bucket, { chance: random, timing: clock, replace: false, signal }));
  } catch (error) {
    throw bucketFailure(error);
  }
  const writer = new SeedWriter(machine, new ObjectWriter({ bucket, clock, random }), documents);
  const { root, ...written } = await writer.write();
  const worldId = random.uuid();
  const start = { sequence: lastOf(documents), documents: documents.count, epoch: EPOCH, root };
  const { marker } = await createMarker(parts, { worldId, incarnationId: random.uuid(), start });
  if (marker.worldId !== worldId) throw taken(bucket, marker.worldId);
  return { worldId, ...written };
}

function taken({ name }: BlobStore, worldId: string): StoreError {
  return new StoreError(
    'LOCATION',
    `${name} holds world ${worldId} already: measure on it with coldstart or compact, or seed an ` +
      'empty location',
  );
}

function lastOf({ count }: SeedDocuments): Sequence {
  return sequence(FIRST_SEQUENCE + count - 1);
}

/** Writes the checkpoint: packs, a run, its version records, the root. */
class SeedWriter {
  readonly #machine: Machine;
  readonly #documents: SeedDocuments;
  readonly #sending: Sending;
  readonly #cutter = new PackCutter(EPOCH, 'rewritten');
  readonly #segments: SegmentRun;
  readonly #records: RunBuilder;
  /** Tables that are complete, and not sent yet. */
  readonly #ready: { readonly kind: RunKind; readonly table: BuiltTable }[] = [];
  readonly #tables: Record<RunKind, TableRef[]> = { run: [], records: [] };
  readonly #packs: PackRef[] = [];
  #packBytes = 0;
  #entryBytes = 0;

  constructor(machine: Machine, writer: ObjectWriter, documents: SeedDocuments) {
    this.#machine = machine;
    this.#documents = documents;
    this.#sending = new Sending(writer, OBJECTS_AT_ONCE, machine.signal);
    this.#segments = new SegmentRun(EPOCH, (ended) => {
      this.#ready.push({ kind: 'run', table: atOnce(ended) });
    });
    this.#records = new RunBuilder('records', EPOCH, (builder) => {
      this.#ready.push({ kind: 'records', table: builder.finish() });
    });
  }

  async write(): Promise<Omit<Seeded, 'worldId'> & { readonly root: RootRef }> {
    const { clock, signal, progress } = this.#machine;
    const { count } = this.#documents;
    for (let index = 0; index < count; index++) {
      const pack = this.#add(this.#documents.document(index), sequence(FIRST_SEQUENCE + index));
      if (pack !== null) await this.#sendPack(pack);
      if (this.#ready.length > 0) await this.#sendTables();
      if (index % TURN_DOCUMENTS === 0) {
        signal.throwIfAborted();
        await clock.turn?.();
      }
      if (index % TOLD_DOCUMENTS === 0) progress(`${index} of ${count} documents`);
    }
    this.#segments.end();
    this.#records.end();
    await this.#sendTables();
    await this.#sendPack(this.#cutter.finish());
    const root = await this.#sendRoot();
    const { objects, bytes } = this.#sending;
    return { root, objects, bytes, packBytes: this.#packBytes, entryBytes: this.#entryBytes };
  }

  /** @returns the pack that ended before it, if one did */
  #add({ path, metadata, body }: SeedDocument, at: Sequence): ReturnType<PackCutter['add']> {
    const stored = storeVersion({ version: 1, previousHash: null, metadata, body });
    const storedHash = sha256Hex(stored);
    const current = {
      version: 1,
      storedHash,
      bodyHash: sha256Hex(body),
      modified: MODIFIED,
      at: { seq: at },
    };
    const catalog = catalogOf(metadata, body, path);
    const state = { path, current, first: 1, archived: false, catalog };
    const name = Buffer.from(path);
    const json = encodeIndexEntry(state, EPOCH);
    this.#entryBytes += json.length;
    this.#segments.add(name, json, (columns) => columns.add(path, state));
    const versions = { first: 1, blocks: [], records: [current] };
    this.#records.add(name, encodeRecordEntry(path, versions, EPOCH));
    return this.#cutter.add(path, { sequence: at, storedHash, bytes: stored });
  }

  async #sendPack(pack: ReturnType<PackCutter['finish']>): Promise<void> {
    if (pack === null) return;
    this.#packs.push(pack.ref);
    this.#packBytes += pack.bytes.length;
    await this.#sending.put(packKey(pack.ref), pack.bytes);
  }

  async #sendTables(): Promise<void> {
    for (const { kind, table } of this.#ready.splice(0)) {
      this.#tables[kind].push(table.ref);
      await this.#sending.put(tableKey(TABLE_KINDS[kind], table.ref), table.bytes);
    }
  }

  /** Resolves when everything is there. */
  async #sendRoot(): Promise<RootRef> {
    const { count: documents } = this.#documents;
    const last = lastOf(this.#documents);
    const root = {
      sequence: last,
      packedThrough: last,
      base: { position: last, documents },
      runs: [await this.#sendManifest('run', last)],
      records: [await this.#sendManifest('records', last)],
      packs: this.#packs,
    };
    const life = { sequence: last, documents, epoch: EPOCH, hasRoot: true };
    const { bytes, ref } = encodeRoot(root, EPOCH, life);
    await this.#sending.put(rootKey(ref), bytes);
    await this.#sending.end();
    return ref;
  }

  async #sendManifest(kind: RunKind, through: Sequence): Promise<RunRef> {
    const manifest = runManifest(kind, { after: 0, through }, this.#tables[kind]);
    const { bytes, ref } = encodeRunManifest(manifest, EPOCH);
    await this.#sending.put(runKey(ref), bytes);
    return ref;
  }
}
