/** `bucketstore verify`: reads everything a world says, and holds it against everything else. */
import { type DerivedKind, kindOf } from '../../checkpoint/unused.ts';
import { ERROR_CODES } from '../base/errors.ts';
import { type VerifyCounts, type VerifyReport, verifyWorld } from '../verify.ts';
import { byteText } from './byte-text.ts';
import { type Command, type CommandContext, isSet } from './command.ts';
import { kindLines } from './kind-lines.ts';
import { readLocation } from './location.ts';
import { isSchema1, verifyOld } from './schema1.ts';
import { worldArguments } from './world.ts';
import { assertWorldId, WORLD_ID_FLAG } from './world-id.ts';

export const verify: Command = {
  name: 'verify',
  summary: 'Read a world, log and checkpoints, and name every object that is not right.',
  usage: 'LOCATION [--deep] [--world-id UUID]',
  flags: {
    deep: { type: 'boolean', help: 'Read all bodies; else those in blobs are only asked for.' },
    'world-id': WORLD_ID_FLAG,
  },
  notes: [
    'Without --deep the bodies in blobs (by default those above 16 KiB) are not read: that one is',
    'gone is seen, that one was cut or changed is not. Where slots are collected, --deep also',
    'reads the bodies that lie in packs alone.',
    'Every checkpoint that counts is held against the log. What is wrong there loses nothing while',
    'the log is whole: all of it is derived from the log, and can be made anew.',
    'A world in the old format (schema 1) is verified too: all that its head leads to, and what',
    'moving it would take. There, blobs hold every body.',
    'Exit status 6 when anything is wrong. Writes nothing; safe beside any number of writers.',
  ],
  examples: [
    'bucketstore verify file:./data',
    'bucketstore verify gs://my-bucket/notes --deep --json',
  ],
  run: runVerify,
};

async function runVerify(context: CommandContext): Promise<number> {
  const { location } = worldArguments(context);
  readLocation(location);
  try {
    await assertWorldId(context, location);
    return await verifyNew(context, location);
  } catch (error) {
    if (isSchema1(error)) return verifyOld(context, location);
    throw error;
  }
}

async function verifyNew(context: CommandContext, location: string): Promise<number> {
  const { output, signal, components } = context;
  const report = await verifyWorld(location, {
    components,
    signal,
    deep: isSet(context, 'deep'),
    onProgress: (counts) => output.progress(countsLine(counts)),
  });
  output.result({ location, ...report }, reportLines(report));
  return report.problemCount === 0 ? 0 : ERROR_CODES.INTEGRITY.exit;
}

function countsLine(counts: VerifyCounts): string {
  const { slots, entries, inlined, blobs, packed, checkpoints, objects } = counts;
  const log = `${slots} slots, ${entries} entries, ${inlined} versions in slots, ${blobs} in blobs`;
  const bodies = packed > 0 ? `, ${packed} in packs` : '';
  const derived = checkpoints > 0 ? `; ${checkpoints} checkpoints, ${objects} objects` : '';
  return `${log}${bodies}${derived}`;
}

function reportLines(report: VerifyReport): readonly string[] {
  const { worldId, problems, problemCount, strays, earlier, deep } = report;
  const unread = report.blobs > 0 && !deep;
  return [
    `world ${worldId ?? 'unknown'}, sequence ${report.sequence}, ${report.documents} documents`,
    `checked ${countsLine(report)}${unread ? ' (blobs not read: they are there, no more)' : ''}`,
    ...strays.map((key) => `unused: ${key} lies inside another slot's range`),
    ...(earlier > 0 ? [`unused: ${earlier} slots of an earlier life`] : []),
    ...derivedLines(report),
    ...problems.map(({ object, problem }) => `wrong: ${object}: ${problem}`),
    ...(problemCount > problems.length ? [`and ${problemCount - problems.length} more`] : []),
    ...adviceLines(report),
    verdict(problemCount, unread),
  ];
}

/** What is there of checkpoints and not needed. */
function derivedLines({ derived, dead }: VerifyReport): readonly string[] {
  if (derived === null) return [];
  const rows = kindLines(KIND_WORDS, derived.unused, ({ objects, bytes }, word) => {
    return `unused: ${objects} ${word}, ${byteText(bytes)}`;
  });
  return [
    ...rows,
    ...(dead.checkpoints > 0 ? [`${dead.checkpoints} checkpoints that no longer count`] : []),
    ...derived.unknown.map((key) => `unknown: ${key}`),
  ];
}

const KIND_WORDS: Readonly<Record<DerivedKind, string>> = {
  record: 'checkpoint records',
  root: 'roots',
  run: 'run manifests',
  segment: 'segments',
  versions: 'tables of versions',
  history: 'history blocks',
  pack: 'packs',
};

/** What problems of derived objects mean. */
function adviceLines({ problems }: VerifyReport): readonly string[] {
  const derived = problems.filter(({ object }) => kindOf(object) !== null).length;
  if (derived === 0) return [];
  return [
    `${derived} of these are derived from the log: while that is whole nothing is lost, and stores`,
    'use older checkpoints, or the log. bucketstore compact makes new ones where it can.',
  ];
}

function verdict(problemCount: number, unread: boolean): string {
  if (problemCount > 0) return `${problemCount} problems`;
  if (!unread) return 'all is as it must be';
  return 'all that was read is as it must be; bodies in blobs were not read: use --deep';
}
