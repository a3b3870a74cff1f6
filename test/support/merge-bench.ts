/**
 * Runs of documents for merges: a large old one and small newer ones, all from a seed, and what a
 * merge of them must make.
 */
import { compareUtf8 } from '../../bucketstore/base/order.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { DocumentState } from '../../bucketstore/snapshot/state.ts';
import { segmentsOf } from '../../checkpoint/changed-runs.ts';
import type { CutSizes } from '../../checkpoint/cut.ts';
import type { EncodedHistory } from '../../checkpoint/history.ts';
import type { RunMerger, RunSink, RunSource } from '../../checkpoint/merger.ts';
import type { BuiltTable } from '../../checkpoint/table-builder.ts';
import type { TableRef } from '../../checkpoint/table-directory.ts';
import { someDocuments, stateAt } from '../checkpoint/column-worlds.ts';
import { SeededRandom } from './seeded-random.ts';

export const MERGE_EPOCH = 3;

/** No entry of the documents is as long as what lies between the bounds. */
export const MERGE_CUT: CutSizes = { bytesMin: 8_192, bytesMax: 65_536, modulus: 4 };

export interface MergeBench {
  /** The oldest first. */
  readonly runs: readonly (readonly BuiltTable[])[];
  /** The tables of all documents, made at once. */
  readonly expected: readonly BuiltTable[];
}

async function tablesOf(documents: readonly DocumentState[]): Promise<readonly BuiltTable[]> {
  const states = new Map(documents.map((document) => [document.path, document]));
  const interval = { after: sequence(1), through: sequence(2) };
  const options = { epoch: MERGE_EPOCH, sizes: MERGE_CUT };
  return segmentsOf({ interval, states }, options, async () => undefined);
}

/** @param changed documents that each of the newer runs has, old ones and new ones */
export async function mergeBench(
  seed: number,
  { documents, changed, runs }: Readonly<Record<'documents' | 'changed' | 'runs', number>>,
): Promise<MergeBench> {
  const random = new SeededRandom(seed);
  const old = someDocuments(random, documents);
  const newer = Array.from({ length: runs }, () => {
    const some = Array.from({ length: changed }, () => random.pick(old).path);
    const fresh = someDocuments(random, changed).map(({ path }) => path);
    return [...new Set([...some, ...fresh])].sort(compareUtf8).map((path) => stateAt(path, random));
  });
  const all = [old, ...newer];
  const newest = new Map(all.flat().map((document) => [document.path, document]));
  const overlay = [...newest.values()].sort((a, b) => compareUtf8(a.path, b.path));
  const built: (readonly BuiltTable[])[] = [];
  for (const run of all) built.push(await tablesOf(run));
  return { runs: built, expected: await tablesOf(overlay) };
}

/** Runs as a merge reads them; notes which tables are. */
export function sourcesOf(
  runs: MergeBench['runs'],
  onRead: (run: number, table: number) => void,
): RunSource[] {
  return runs.map((tables, run) => ({
    tables: tables.map(({ ref }) => ref),
    read: async (table) => {
      onRead(run, table);
      // A copy: the bytes are the merge's from then on.
      return Uint8Array.from(tables[table]?.bytes ?? []);
    },
  }));
}

/** Takes what a merge makes. */
export class Collected implements RunSink {
  /** All that the merge names, in order. */
  readonly refs: TableRef[] = [];
  readonly made: BuiltTable[] = [];
  readonly keptTables: (readonly [run: number, table: number])[] = [];
  readonly blocks: EncodedHistory[] = [];
  readonly #runs: MergeBench['runs'];

  constructor(runs: MergeBench['runs']) {
    this.#runs = runs;
  }

  async table(table: BuiltTable): Promise<void> {
    this.refs.push(table.ref);
    this.made.push(table);
  }

  async kept(run: number, table: number): Promise<void> {
    const ref = this.#runs[run]?.[table]?.ref;
    if (ref === undefined) throw new RangeError(`no table ${table} of run ${run}`);
    this.refs.push(ref);
    this.keptTables.push([run, table]);
  }

  async closed(block: EncodedHistory): Promise<void> {
    this.blocks.push(block);
  }
}

/** What a merger makes of runs, and which tables it reads. */
export async function collect(
  merger: Pick<RunMerger, 'merge'>,
  { runs }: MergeBench,
  epoch: number = MERGE_EPOCH,
): Promise<{ readonly sink: Collected; readonly reads: readonly string[] }> {
  const reads: string[] = [];
  const sources = sourcesOf(runs, (run, table) => reads.push(`${run} ${table}`));
  const sink = new Collected(runs);
  await merger.merge('segment', sources, sink, { epoch, sizes: MERGE_CUT });
  return { sink, reads };
}
