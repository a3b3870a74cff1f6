/** `bucketstore import`: a folder of Markdown files into a world. */
import { statSync } from 'node:fs';
import type { Counts } from '../../blob/index.ts';
import { StoreError } from '../base/errors.ts';
import { systemRandom } from '../base/random.ts';
import { canonicalPath } from '../document/path.ts';
import type { World } from '../world.ts';
import { type Command, type CommandContext, clockOf, isSet, textFlag } from './command.ts';
import { genesisFailure, importFailure } from './failure.ts';
import { type GenesisObserver, observeGenesis } from './genesis-observer.ts';
import { ImportTally } from './import-tally.ts';
import { importFiles } from './importer.ts';
import { LOCATION_VARIABLE } from './location.ts';
import { readMarkdownFiles } from './markdown-files.ts';
import { withWorld } from './world.ts';

export const importCommand: Command = {
  name: 'import',
  summary: 'Write a folder of Markdown files into a world; run again, it writes what has changed.',
  usage: 'DIR --to LOCATION',
  writes: true,
  flags: {
    to: { type: 'string', value: 'LOCATION', help: 'The world; made when nothing is there.' },
    under: {
      type: 'string',
      value: '/PREFIX',
      help: 'The directory that DIR becomes. Default: /.',
    },
    verbose: { type: 'boolean', help: 'A line for each file that is written.' },
  },
  notes: [
    'Every file whose name ends in .md, in byte order of the paths. Leading front matter becomes',
    'metadata where it fits, and stays in the body, which is the file byte for byte. What does not',
    'fit is named:',
    '  skipped   not UTF-8, over 1 MiB, a path or name that no document can have, a document above',
    '            or below another, an archived document, a symbolic link (none is followed),',
    '            refused by the world’s policy, written by somebody else at the same moment',
    '  imported  without the front matter keys that are no metadata, each named with its line',
    'A changed file becomes the next version; one that is unchanged is not sent. Files that are',
    'gone from the folder stay in the world. Interrupted, it goes on when it is run again.',
    'Exit status 1 when not one file could be imported, 0 when some were and others are named.',
  ],
  examples: [
    'bucketstore import ./notes --to file:./data',
    'bucketstore import ./docs --to gs://my-bucket/worlds/docs --under /manual --json',
  ],
  run: runImport,
};

async function runImport(context: CommandContext): Promise<number> {
  const { directory, location } = importArguments(context);
  const under = canonicalPath(textFlag(context, 'under') ?? '/');
  if (under === null) throw new StoreError('USAGE', '--under is no path of a world');
  // A folder that is not there must not make a world.
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    throw new StoreError('NOT_FOUND', `there is no folder ${directory}`);
  }
  const genesis = observeGenesis();
  let opened = false;
  try {
    return await withWorld(
      context,
      location,
      (world) => {
        opened = true;
        return importInto(context, world, { directory, location, under, genesis });
      },
      // It may run for hours: whoever opens the world meanwhile or later reads that much less.
      {
        create: true,
        settings: { compact: true },
        components: { observer: genesis.observer },
      },
    );
  } catch (error) {
    throw opened ? error : genesisFailure(error, genesis);
  }
}

interface Job {
  readonly directory: string;
  readonly location: string;
  readonly under: string;
  readonly genesis: GenesisObserver;
}

async function importInto(context: CommandContext, world: World, job: Job): Promise<number> {
  const { output, signal, components } = context;
  const clock = clockOf(context);
  const { directory, under, genesis } = job;
  if (genesis.created()) output.line(`made world ${world.worldId} at ${job.location}`);
  const before = genesis.counts().requests;
  const tally = new ImportTally(output, clock, isSet(context, 'verbose'));
  const parts = {
    world,
    clock,
    random: components.random ?? systemRandom,
    under,
    onOutcome: tally.note,
  };
  let stopped: { readonly error: unknown } | null = null;
  try {
    await importFiles(parts, readMarkdownFiles(directory), signal);
    signal.throwIfAborted();
  } catch (error) {
    stopped = { error };
  }
  const { requests } = genesis.counts();
  tally.report({
    location: job.location,
    worldId: world.worldId,
    createdWorld: genesis.created(),
    complete: stopped === null,
    requests: difference(requests, before),
  });
  if (stopped !== null) throw importFailure(stopped.error, tally);
  return tally.nothingImported ? 1 : 0;
}

function difference(after: Counts['requests'], before: Counts['requests']): Counts['requests'] {
  const entries = Object.entries(after).map(([kind, count]) => {
    return [kind, count - before[kind as keyof Counts['requests']]] as const;
  });
  return Object.fromEntries(entries) as Counts['requests'];
}

/** The folder first; the location by `--to`, or what stands in for it. */
function importArguments(context: CommandContext): {
  readonly directory: string;
  readonly location: string;
} {
  const [directory, extra] = context.positionals;
  if (directory === undefined) throw new StoreError('USAGE', 'which folder? import DIR --to …');
  if (extra !== undefined) throw new StoreError('USAGE', `"${extra}" is one argument too many`);
  const location =
    textFlag(context, 'to') ?? textFlag(context, 'location') ?? context.env[LOCATION_VARIABLE];
  if (location === undefined || location === '') {
    throw new StoreError('USAGE', `into which world? --to LOCATION, or set ${LOCATION_VARIABLE}`);
  }
  return { directory, location };
}
