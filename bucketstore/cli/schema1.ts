/** What the commands say of a world of schema 1, the old format. */
import type { Location } from '../../blob/index.ts';
import { ERROR_CODES, isStoreError, StoreError } from '../base/errors.ts';
import { SCHEMA_1_ADVICE } from '../log/format.ts';
import {
  LATENCIES_LOCAL,
  LATENCIES_NEAR,
  type Latencies,
  migrationMs,
  type Schema1Cost,
  type Schema1Counts,
  type Schema1Facts,
  type Schema1Objects,
  type Schema1Report,
  type Schema1Told,
  statSchema1,
  verifySchema1,
} from '../schema1.ts';
import { byteText } from './byte-text.ts';
import { type CommandContext, isSet } from './command.ts';
import { kindLines } from './kind-lines.ts';
import { readLocation } from './location.ts';
import { worldIdFlag } from './world-id.ts';

/** Whether a failure says that a location holds a world of schema 1. */
export function isSchema1(error: unknown): boolean {
  return isStoreError(error) && error.code === 'UNSUPPORTED_FORMAT' && error.details.schema === 1;
}

/** `verify` of such a world. Gives the exit status. */
export async function verifyOld(context: CommandContext, location: string): Promise<number> {
  const { output, signal, components } = context;
  const report = await verifySchema1(location, {
    components,
    signal,
    worldId: worldIdFlag(context),
    deep: isSet(context, 'deep'),
    onProgress: (counts) => output.progress(countsLine(counts)),
  });
  const unread = report.versions > 0 && !report.deep;
  const notRead = unread ? ' (blobs are there, and were not read)' : '';
  return tell(context, location, report, [
    `checked ${countsLine(report)}${notRead}`,
    ...toldLines(report.told),
    ...sinceLines(report),
    ...problemLines(report),
    verdict(report.problemCount, unread),
  ]);
}

/** `stat` of such a world. Gives the exit status. */
export async function statOld(context: CommandContext, location: string): Promise<number> {
  const { output, signal, components } = context;
  const facts = await statSchema1(location, {
    components,
    signal,
    worldId: worldIdFlag(context),
    onProgress: ({ documents, listed }) => {
      output.progress(`${documents} documents, ${listed} objects listed`);
    },
  });
  return tell(context, location, facts, problemLines(facts));
}

/** The refusal of `stat` of one document. */
export function refuseDocument(location: string): StoreError {
  return new StoreError(
    'UNSUPPORTED_FORMAT',
    `${location} holds a world in the old format, schema 1, whose documents are not shown one by ` +
      `one: ${SCHEMA_1_ADVICE}`,
    { details: { schema: 1 } },
  );
}

function tell(
  { output }: CommandContext,
  location: string,
  facts: Schema1Facts,
  lines: readonly string[],
): number {
  const { cost } = facts;
  const latencies = latenciesOf(readLocation(location));
  const estimate = cost && { ms: migrationMs(cost, latencies), latencies };
  output.result({ location, ...facts, estimate }, [
    `world ${facts.worldId ?? 'unknown'} in the old format (schema 1), sequence ` +
      `${facts.sequence ?? 'unknown'}, ${facts.documents} documents (${facts.archived} archived)`,
    ...objectLines(facts.objects),
    ...(cost === null ? [] : costLines(cost, latencies)),
    ...lines,
  ]);
  return facts.problemCount === 0 ? 0 : ERROR_CODES.INTEGRITY.exit;
}

function latenciesOf({ kind, model }: Location): Latencies {
  return model || kind === 'gcs' || kind === 's3' ? LATENCIES_NEAR : LATENCIES_LOCAL;
}

function countsLine({ documents, versions, blocks, listed, blobs }: Schema1Counts): string {
  const read = blobs > 0 ? `, ${blobs} of them read` : '';
  const all = `${documents} documents, ${versions} versions${read}, ${blocks} history blocks`;
  return `${all}, ${listed} objects listed`;
}

function objectLines(objects: Schema1Objects | null): readonly string[] {
  if (objects === null) return [];
  const { kinds, others } = objects;
  const unreachable: Partial<Schema1Objects['kinds']> = objects.unreachable ?? {};
  const rows = kindLines(KIND_WORDS, kinds, (count, word, kind) => {
    const dead = unreachable[kind];
    const words =
      dead === undefined || dead.objects === 0
        ? ''
        : `; unreachable: ${dead.objects}, ${byteText(dead.bytes)}`;
    return `  ${word}: ${count.objects}, ${byteText(count.bytes)}${words}`;
  });
  return [
    `the bucket holds ${objects.objects} objects, ${byteText(objects.bytes)}`,
    ...rows,
    ...others.map((key) => `  unknown: ${key}`),
  ];
}

const KIND_WORDS: Readonly<Record<keyof Schema1Objects['kinds'], string>> = {
  head: 'head',
  root: 'roots',
  shard: 'shards',
  manifest: 'manifests',
  history: 'history blocks',
  blob: 'blobs',
  changes: 'change blocks',
  pin: 'pins',
  'schema-2': 'objects of schema 2',
  other: 'unknown objects',
};

function costLines(cost: Schema1Cost, latencies: Latencies): readonly string[] {
  const { getMs, createMs, readsAtOnce } = latencies;
  const { objects, bytes, segments, recordTables, blocks, requests } = cost;
  const lists = `${requests.list} lists`;
  return [
    `moving it would read ${requests.get} objects (${lists}) and write ${objects}, about ` +
      `${byteText(bytes)}: ${segments} segments, ${recordTables} tables of versions; ` +
      `${blocks} history blocks and all blobs stay where they are`,
    `  about ${duration(migrationMs(cost, latencies))}, at ${getMs} ms a read, ` +
      `${readsAtOnce} at once, ${createMs} ms a write`,
  ];
}

function toldLines(told: Schema1Told | null): readonly string[] {
  if (told === null) return [];
  const { named, unnamed, changeBlocks, changeGaps, resumesFrom } = told;
  const gaps = changeGaps > 0 ? ` (${changeGaps} never kept)` : '';
  return [
    `told of the past: ${named + unnamed} receipts (${unnamed} do not say of what), ` +
      `${changeBlocks} change blocks${gaps}; cursors resume from ${resumesFrom} on`,
  ];
}

function sinceLines({ sequence, headAfter }: Schema1Report): readonly string[] {
  if (headAfter === null || headAfter === sequence) return [];
  if (headAfter === 'migrated') {
    return ['it was migrated meanwhile: what was verified is what it was before'];
  }
  return [
    `old servers write to it: the head is at ${headAfter} now, and what was verified is the ` +
      `state at ${sequence}`,
  ];
}

function problemLines({ problems, problemCount }: Schema1Facts): readonly string[] {
  const more = problemCount - problems.length;
  return [
    ...problems.map(({ object, problem }) => `wrong: ${object}: ${problem}`),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

function verdict(problemCount: number, unread: boolean): string {
  if (problemCount > 0) return `${problemCount} problems`;
  if (!unread) return 'all is as it must be';
  return 'all that was read is as it must be; blobs were not read: use --deep';
}

function duration(ms: number): string {
  if (ms < 120_000) return `${Math.ceil(ms / 1000)} s`;
  return `${Math.ceil(ms / 60_000)} min`;
}
