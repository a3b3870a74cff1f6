/** `bucketstore verify`: reads everything a world says, and holds it against everything else. */
import { ERROR_CODES } from '../base/errors.ts';
import { type VerifyCounts, type VerifyReport, verifyWorld } from '../verify.ts';
import { type Command, type CommandContext, isSet } from './command.ts';
import { readLocation } from './location.ts';
import { isSchema1, verifyOld } from './schema1.ts';
import { worldArguments } from './world.ts';

export const verify: Command = {
  name: 'verify',
  summary: 'Read a world from its marker to its tip, and name every object that is not right.',
  usage: 'LOCATION [--deep]',
  flags: {
    deep: { type: 'boolean', help: 'Read bodies in blobs too; else they are only asked for.' },
  },
  notes: [
    'Without --deep the bodies in blobs (by default those above 16 KiB) are not read: that one is',
    'gone is seen, that one was cut or changed is not.',
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

function countsLine({ slots, entries, inlined, blobs }: VerifyCounts): string {
  return `${slots} slots, ${entries} entries, ${inlined} versions in slots, ${blobs} in blobs`;
}

function reportLines(report: VerifyReport): readonly string[] {
  const { worldId, problems, problemCount, strays, earlier, deep } = report;
  const unread = report.blobs > 0 && !deep;
  return [
    `world ${worldId ?? 'unknown'}, sequence ${report.sequence}, ${report.documents} documents`,
    `checked ${countsLine(report)}${unread ? ' (not read: they are there, no more)' : ''}`,
    ...strays.map((key) => `unused: ${key} lies inside another slot's range`),
    ...(earlier > 0 ? [`unused: ${earlier} slots of an earlier life`] : []),
    ...problems.map(({ object, problem }) => `wrong: ${object}: ${problem}`),
    ...(problemCount > problems.length ? [`and ${problemCount - problems.length} more`] : []),
    verdict(problemCount, unread),
  ];
}

function verdict(problemCount: number, unread: boolean): string {
  if (problemCount > 0) return `${problemCount} problems`;
  if (!unread) return 'all is as it must be';
  return 'all that was read is as it must be; bodies in blobs were not read: use --deep';
}
