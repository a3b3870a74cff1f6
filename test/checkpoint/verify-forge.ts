/** Runs that are valid by themselves and are not what the log says. */
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { compareUtf8 } from '../../bucketstore/base/order.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import type { DocumentState, VersionRecord } from '../../bucketstore/snapshot/state.ts';
import { ColumnsBuilder } from '../../checkpoint/columns.ts';
import { decodeIndexEntry, encodeIndexEntry } from '../../checkpoint/index-entry.ts';
import { recordEntryOf } from '../../checkpoint/merge-records.ts';
import { decodeRecordEntry, encodeRecordEntry } from '../../checkpoint/record-entry.ts';
import type { RunRef } from '../../checkpoint/root.ts';
import {
  decodeRunManifest,
  encodeRunManifest,
  type RunKind,
  runKey,
  runManifest,
  TABLE_KINDS,
} from '../../checkpoint/run-manifest.ts';
import { entriesOf, openTable } from '../../checkpoint/table.ts';
import { type BuiltTable, TableBuilder } from '../../checkpoint/table-builder.ts';
import { tableKey } from '../../checkpoint/table-directory.ts';
import type { EntryCursor } from '../../checkpoint/table-entry.ts';
import type { WorldBench } from '../support/world-bench.ts';
import type { RootJson } from './verify-world.ts';

type RunJson = RootJson['runs'][number];
type States = Map<string, DocumentState>;
type Made = Map<string, { first: number; readonly records: VersionRecord[] }>;

/** What is done to a run, by what verification says of it then. */
export type Changes<T> = { readonly [words: string]: T };

export const STATE_CHANGES: Changes<(states: States, one: DocumentState) => void> = {
  'archived not as': (states, one) => states.set(one.path, { ...one, archived: !one.archived }),
  'catalog not as': (states, one) => {
    states.set(one.path, { ...one, catalog: { ...one.catalog, title: 'Other' } });
  },
  'stored_hash not as': (states, one) => {
    const current = { ...one.current, storedHash: sha256Hex('other') };
    states.set(one.path, { ...one, current });
  },
  'documents changed last in': (states, one) => states.delete(one.path),
  'has /none.md, which': (states, one) => states.set('/none.md', { ...one, path: '/none.md' }),
  'below.md, which the log does not have': (states, one) => {
    states.set(`${one.path}/below.md`, { ...one, path: `${one.path}/below.md` });
  },
};

/** A document of a record run, and its retained version before those. */
interface OneOf {
  first: number;
  readonly path: string;
  readonly records: VersionRecord[];
  readonly before: VersionRecord;
}

export const VERSION_CHANGES: Changes<(made: Made, one: OneOf) => void> = {
  'ends at version': (_, { records }) => records.pop(),
  'is missing': (_, { records }) => records.shift(),
  'is not as the log made it': (_, { records }) => {
    const last = records.pop();
    if (last !== undefined) records.push({ ...last, modified: last.modified + 1 });
  },
  'was not made in': (_, { records, before }) => records.unshift(before),
  'documents got versions in': (made, { path }) => made.delete(path),
  ': first ': (_, one) => {
    one.first += 1;
  },
};

/** A run of documents in the place of one. @returns its reference, and the keys of its objects */
export async function forgeStates(
  bench: WorldBench,
  run: RunJson,
  change: (states: States, one: DocumentState) => void,
): Promise<readonly [RunJson, readonly string[]]> {
  const states: States = new Map();
  await eachEntry(bench, 'run', run, (cursor) => {
    const state = decodeIndexEntry(cursor.key, cursor.found());
    states.set(state.path, state);
  });
  const [one] = states.values();
  if (one === undefined) throw new Error('a run without documents');
  change(states, one);
  const builder = new TableBuilder('segment', run.epoch);
  const columns = new ColumnsBuilder();
  for (const [path, state] of sorted(states)) {
    builder.add(Buffer.from(path), encodeIndexEntry(state, run.epoch));
    columns.add(path, state);
  }
  return putRun(bench, 'run', run, builder.finish({ columns: columns.finish() }));
}

/**
 * The same of version records. `change` gets a document with several retained versions.
 * @param state of the log
 */
export async function forgeVersions(
  bench: WorldBench,
  state: Snapshot,
  run: RunJson,
  change: (typeof VERSION_CHANGES)[string],
): Promise<readonly [RunJson, readonly string[]]> {
  const made: Made = new Map();
  await eachEntry(bench, 'records', run, (cursor) => {
    const { path, json } = cursor.found();
    const { first, records } = decodeRecordEntry(cursor.key, { path, json });
    made.set(Buffer.from(path).toString(), { first, records: [...records] });
  });
  for (const [path, versions] of made) {
    const [oldest, ...others] = versions.records;
    const before = await state.version(path, (oldest?.version ?? 0) - 1);
    if (before === undefined || others.length < 2 || before.version < versions.first) continue;
    const one = Object.assign(versions, { path, before });
    change(made, one);
    break;
  }
  const builder = new TableBuilder('records', run.epoch);
  for (const [path, { first, records }] of sorted(made)) {
    const { entry } = recordEntryOf(path, first, records, run.epoch);
    builder.add(Buffer.from(path), encodeRecordEntry(path, entry, run.epoch));
  }
  return putRun(bench, 'records', run, builder.finish());
}

async function eachEntry(
  bench: WorldBench,
  kind: RunKind,
  run: RunJson,
  take: (cursor: EntryCursor) => void,
): Promise<void> {
  const ref = refOf(run);
  const manifest = decodeRunManifest(kind, ref, await bench.bytes(runKey(ref)));
  for (const table of manifest.objects) {
    const bytes = await bench.bytes(tableKey(TABLE_KINDS[kind], table));
    const cursor = entriesOf(openTable(TABLE_KINDS[kind], table, bytes));
    while (cursor.advance()) take(cursor);
  }
}

async function putRun(
  bench: WorldBench,
  kind: RunKind,
  run: RunJson,
  table: BuiltTable,
): Promise<readonly [RunJson, readonly string[]]> {
  const key = tableKey(TABLE_KINDS[kind], table.ref);
  await bench.put(key, table.bytes);
  const { bytes, ref } = encodeRunManifest(runManifest(kind, refOf(run), [table.ref]), run.epoch);
  await bench.put(runKey(ref), bytes);
  return [ref, [key, runKey(ref)]];
}

function refOf({ after, through, epoch, hash }: RunJson): RunRef {
  return { after: after === 0 ? 0 : sequence(after), through: sequence(through), epoch, hash };
}

function sorted<T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...map].sort(([a], [b]) => compareUtf8(a, b));
}
