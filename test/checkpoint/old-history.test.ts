/**
 * Goal: history blocks of the old format, which a checkpoint names at epoch 0, are read where they
 * lie: every version that an old world retained is there behind a marker that starts from it, and
 * behind checkpoints made on top; a block that is damaged is named.
 * Method: a world of the old store in a bucket in memory; base and record run written beside it
 * with the codecs that stores use, and a marker in the place of its head; then real stores on it.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { compareUtf8 } from '../../bucketstore/base/order.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { catalogOf } from '../../bucketstore/document/catalog.ts';
import type { World } from '../../bucketstore/index.ts';
import { verifyWorld } from '../../bucketstore/index.ts';
import { encodeMarker } from '../../bucketstore/log/marker.ts';
import { CHECKPOINTS_PREFIX, MARKER_KEY } from '../../bucketstore/log/names.ts';
import type { DocumentState } from '../../bucketstore/snapshot/state.ts';
import { ColumnsBuilder } from '../../checkpoint/columns.ts';
import { encodeIndexEntry } from '../../checkpoint/index-entry.ts';
import type { Interval } from '../../checkpoint/interval.ts';
import { planRecords, planRuns } from '../../checkpoint/plan.ts';
import { encodeRecordEntry } from '../../checkpoint/record-entry.ts';
import { encodeRoot, type RunRef, rootKey } from '../../checkpoint/root.ts';
import { RunBuilder } from '../../checkpoint/run-builder.ts';
import {
  encodeRunManifest,
  type RunKind,
  runKey,
  runManifest,
  TABLE_KINDS,
} from '../../checkpoint/run-manifest.ts';
import type { BuiltTable } from '../../checkpoint/table-builder.ts';
import { tableKey } from '../../checkpoint/table-directory.ts';
import { type Schema1Document, Schema1Graph } from '../../migrate/schema1-graph.ts';
import { schema1HistoryKey } from '../../migrate/schema1-keys.ts';
import { readSchema1Head } from '../../migrate/schema1-reader.ts';
import { decodeOldHistory } from '../../migrate/schema1-versions.ts';
import { refusal } from '../log/forge.ts';
import type { OldDocument } from '../schema1/document.ts';
import { OldWorld } from '../schema1/old-world.ts';
import { failureOf } from '../support/outcome.ts';
import { WorldBench } from '../support/world-bench.ts';

const EPOCH = 1;
const SEED = 8;
/** All kinds of documents: pruned inside a block and at one, of more blocks than one, archived. */
const world = new OldWorld({ seed: SEED, documents: 70, fixtures: true });
const old = new Map([...world.documents()].map((document) => [document.path, document]));

function documentAt(path: string): OldDocument {
  const document = old.get(path);
  if (document === undefined) throw new RangeError(`no document ${path}`);
  return document;
}

/** An old world in a bucket, with all that a marker starts from beside it, and the marker. */
async function moved(): Promise<{
  readonly bench: WorldBench;
  readonly documents: ReadonlyMap<string, Schema1Document>;
}> {
  const bench = new WorldBench();
  await world.writeTo(bench.bucket);
  const { head } = await readSchema1Head(bench.bucket);
  const found: Schema1Document[] = [];
  for await (const one of new Schema1Graph(bench.bucket, head).documents()) found.push(one);
  found.sort((a, b) => compareUtf8(a.entry.path, b.entry.path));
  const through = sequence(head.sequence);
  const life = { sequence: through, documents: found.length, epoch: EPOCH, hasRoot: true };
  const [base] = planRuns({ base: through, through });
  const [records] = planRecords({ start: through, startHasRoot: true, through });
  if (base === undefined || records === undefined) throw new RangeError('nothing is planned');
  const root = {
    sequence: through,
    packedThrough: through,
    base: { position: through, documents: found.length },
    runs: [await putBase(bench, base, found)],
    records: [await putRecords(bench, records, found)],
    packs: [],
  };
  const { bytes, ref } = encodeRoot(root, EPOCH, life);
  await bench.put(rootKey(ref), bytes);
  const { worldId } = head;
  const start = { sequence: through, documents: found.length, epoch: EPOCH, root: ref };
  await bench.put(MARKER_KEY, encodeMarker({ worldId, incarnationId: worldId, start }));
  return { bench, documents: new Map(found.map((one) => [one.entry.path, one])) };
}

function stateOf({ entry, manifest, versions }: Schema1Document): DocumentState {
  const tip = versions.at(-1);
  const first = manifest.blocks[0]?.first;
  if (tip === undefined || first === undefined) throw new RangeError('no version');
  const { path } = entry;
  const { body = new Uint8Array() } = documentAt(path).versions.at(-1) ?? {};
  return {
    path,
    archived: entry.archived,
    first,
    current: { ...tip, at: { epoch: 0 } },
    // An old title may have white space around it, and be longer.
    catalog: catalogOf(entry.catalog.metadata, body, path),
  };
}

async function putBase(
  bench: WorldBench,
  interval: Interval,
  documents: readonly Schema1Document[],
): Promise<RunRef> {
  const states = documents.map(stateOf);
  const tables: BuiltTable[] = [];
  let from = 0;
  const run = new RunBuilder('segment', EPOCH, (builder) => {
    const columns = new ColumnsBuilder();
    for (const { path, ...row } of states.slice(from, from + builder.entries)) {
      columns.add(path, row);
    }
    from += builder.entries;
    tables.push(builder.finish({ columns: columns.finish() }));
  });
  for (const state of states) run.add(Buffer.from(state.path), encodeIndexEntry(state, EPOCH));
  run.end();
  return putRun(bench, 'run', interval, tables);
}

/** Of each document its history blocks, where they lie. */
async function putRecords(
  bench: WorldBench,
  interval: Interval,
  documents: readonly Schema1Document[],
): Promise<RunRef> {
  const tables: BuiltTable[] = [];
  const run = new RunBuilder('records', EPOCH, (builder) => tables.push(builder.finish()));
  for (const { entry, manifest } of documents) {
    const blocks = manifest.blocks.map(({ first, hash }) => ({ first, hash, epoch: 0 }));
    const first = blocks[0]?.first ?? 1;
    const said = encodeRecordEntry(entry.path, { first, blocks, records: [] }, EPOCH);
    run.add(Buffer.from(entry.path), said);
  }
  run.end();
  return putRun(bench, 'records', interval, tables);
}

async function putRun(
  bench: WorldBench,
  kind: RunKind,
  interval: Interval,
  tables: readonly BuiltTable[],
): Promise<RunRef> {
  for (const { ref, bytes } of tables) {
    await bench.put(tableKey(TABLE_KINDS[kind], ref), bytes);
  }
  const refs = tables.map(({ ref }) => ref);
  const { bytes, ref } = encodeRunManifest(runManifest(kind, interval, refs), EPOCH);
  await bench.put(runKey(ref), bytes);
  return ref;
}

/** Holds what a store says of documents against what the old world retained of them. */
async function expectOld(
  bench: WorldBench,
  store: World,
  documents: Iterable<OldDocument>,
): Promise<void> {
  await using view = store.view();
  for (const { path, versions } of documents) {
    const told = await bench.run(view.versions(path));
    // What was written since comes first.
    const past = told.slice(-versions.length).reverse();
    expect(
      past.map(({ version }) => version),
      path,
    ).toEqual(versions.map((one) => one.version));
    for (const { version, body, hash, modified } of versions) {
      const found = await bench.run(view.get(path, { version }));
      expect(Buffer.compare(found.body, body), `${path} ${version}`).toBe(0);
      expect(found).toMatchObject({ version, etag: hash, modified });
    }
    await bench.run(view.verifyChain(path));
  }
}

const LONG = '/histories/pruned-inside.md';

describe('behind a marker that starts from an old world', () => {
  let bench: WorldBench;
  let blocks: readonly { readonly first: number; readonly hash: string }[];

  beforeAll(async () => {
    const made = await moved();
    bench = made.bench;
    blocks = made.documents.get(LONG)?.manifest.blocks ?? [];
  });

  test('every version that was retained is read, body for body', async () => {
    const store = await bench.open({ create: false });
    await expectOld(bench, store, old.values());
    await bench.run(store.close());
  });

  test('a checkpoint on top names the same blocks, and a store opens from it', async () => {
    const store = await bench.open({ create: false });
    const next = { path: LONG, expected: 'any', body: 'next' } as const;
    await bench.run(store.publish(next));
    await bench.run(store.publish({ ...next, path: '/new.md' }));
    await bench.run(store.compact());
    await bench.run(store.close());
    expect(await bench.keys(CHECKPOINTS_PREFIX)).toHaveLength(1);
    const later = await bench.open({ create: false });
    await expectOld(
      bench,
      later,
      [...old.values()].filter(({ versions }) => versions.length > 2),
    );
    await using view = later.view();
    expect(await bench.run(view.get(LONG))).toMatchObject({ version: 301 });
    await bench.run(later.close());
    const { clock, random, bucket } = bench;
    const components = { clock, random, bucket };
    const { problems } = await bench.run(verifyWorld('memory:', { components, deep: true }));
    expect(problems).toEqual([]);
  });

  test.each<[string, (bytes: Uint8Array) => Uint8Array | string | null]>([
    ['missing', () => null],
    ['cut', (bytes) => bytes.subarray(0, -1)],
    ['empty', () => ''],
    ['another one', () => '{"schema":1}'],
  ])('a block that is %s is named, and only what needs it fails', async (_, change) => {
    expect(blocks.map(({ first }) => first)).toEqual([100, 257]);
    const key = schema1HistoryKey(blocks[0]?.hash ?? '');
    const bytes = await bench.bytes(key);
    const damaged = change(bytes);
    if (damaged === null) await bench.bucket.delete(key);
    else await bench.put(key, damaged);
    const store = await bench.open({ create: false });
    await using view = store.view();
    const damage = { code: 'INTEGRITY', details: { object: key } };
    for (const ask of [
      () => view.get(LONG, { version: 100 }),
      () => view.versions(LONG),
      () => view.verifyChain(LONG),
    ]) {
      expect(await failureOf(bench.run<unknown>(ask()))).toMatchObject(damage);
    }
    expect(await bench.run(view.get(LONG))).toMatchObject({ path: LONG });
    await expectOld(bench, store, [documentAt('/histories/long.md')]);
    const { clock, random, bucket } = bench;
    const components = { clock, random, bucket };
    const { problems } = await bench.run(verifyWorld('memory:', { components }));
    expect(problems.map(({ object }) => object)).toContain(key);
    await bench.run(store.close());
    await bench.put(key, bytes);
  });

  test('a block of another document, or of another range, is named', async () => {
    const [first, second] = blocks;
    if (first === undefined || second === undefined) throw new RangeError('no blocks');
    const key = schema1HistoryKey(first.hash);
    const bytes = await bench.bytes(key);
    const ref = { ...first, epoch: 0 };
    const records = decodeOldHistory(LONG, ref, bytes);
    expect(records.map(({ version }) => version)).toEqual(
      Array.from({ length: 157 }, (_, i) => 100 + i),
    );
    expect(new Set(records.map(({ at }) => JSON.stringify(at)))).toEqual(new Set(['{"epoch":0}']));
    for (const [decode, says] of [
      [() => decodeOldHistory('/other.md', ref, bytes), 'path_hash: not of /other.md'],
      [
        () => decodeOldHistory(LONG, { ...ref, first: second.first }, bytes),
        'first: 100, the record run says 257',
      ],
    ] as const) {
      expect(refusal(key, decode).message).toBe(`${key}: ${says}`);
    }
  });
});
