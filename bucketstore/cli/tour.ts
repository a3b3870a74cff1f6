/**
 * `bucketstore tour`: the whole of it on a local directory, command by command, checked as it goes.
 */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isStoreError, StoreError } from '../base/errors.ts';
import { systemRandom } from '../base/random.ts';
import { type Command, type CommandContext, textFlag } from './command.ts';
import { Guide, has } from './tour-guide.ts';
import { raceForOneName, readAtOnce } from './tour-stores.ts';

export const tour: Command = {
  name: 'tour',
  summary: 'See all of it on a local directory: what each command does, and what it answers.',
  usage: '[DIR]',
  flags: {
    docs: {
      type: 'string',
      value: 'DIR',
      help: 'Markdown to import. Default: this project’s docs.',
    },
  },
  notes: [
    'Works in a new directory below DIR (./data/tour). Whatever is there already is not touched.',
  ],
  examples: ['bucketstore tour', 'bucketstore tour /tmp/tour --docs ./notes'],
  run: runTour,
};

async function runTour(context: CommandContext): Promise<number> {
  const [base = join('data', 'tour'), extra] = context.positionals;
  if (extra !== undefined) throw new StoreError('USAGE', `"${extra}" is one argument too many`);
  const place = await newDirectory(base);
  const docs = textFlag(context, 'docs') ?? (await docsOrSample(place));
  const guide = new Guide(context);
  const location = `file:${join(place, 'world')}`;
  guide.say(
    'A world is a space of Markdown documents with a history, kept in a bucket and nowhere else.',
    'This tour makes one in a directory, which does what a bucket does. The commands work as they',
    'stand after',
    `  alias bucketstore='node ${join(import.meta.dirname, 'main.js')}'`,
  );
  const first = await beginning(guide, place, location, docs);
  await changes(guide, place, location, first);
  await severalStores(guide, context, location);
  await repeats(guide, context, place, location, first);
  guide.step('Is all of it still right? verify reads everything anew and checks hash by hash.');
  await guide.run(['verify', location, '--deep'], 0, has('all is as it must be'));
  guide.say(
    '',
    `All ${guide.steps} steps went as told. The world stays at ${location}; go on with`,
    `  bucketstore ls ${location}`,
    '  bucketstore --help',
    'With a real bucket: bucketstore doctor gs://BUCKET/PREFIX, then import into it.',
    'In code: README.md.',
    'How it works: docs/architecture.md. What must always hold: docs/invariants.md.',
  );
  context.output.result({ location, steps: guide.steps }, []);
  return 0;
}

/** A directory of this run alone: the next free number. */
async function newDirectory(base: string): Promise<string> {
  try {
    await mkdir(base, { recursive: true });
  } catch (error) {
    throw new StoreError('USAGE', `no directory can be made at ${base}: ${String(error)}`);
  }
  for (let number = 1; ; number++) {
    const place = join(base, String(number));
    try {
      await mkdir(place);
      return place;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
}

/** The project's own pages where they are, else two small ones. */
async function docsOrSample(place: string): Promise<string> {
  for (const root of ['../..', '../../..']) {
    const docs = join(import.meta.dirname, root, 'docs');
    if (existsSync(join(docs, 'architecture.md'))) return relative('.', docs) || '.';
  }
  const sample = join(place, 'docs');
  await mkdir(join(sample, 'more'), { recursive: true });
  await writeFile(join(sample, 'hello.md'), '---\ntags: [first]\n---\n# Hello\n\nA document.\n');
  await writeFile(join(sample, 'more', 'second.md'), '# Second\n\nAnother.\n');
  return sample;
}

/** Doctor, init, import, ls, get. Returns the path of a document. */
async function beginning(
  guide: Guide,
  place: string,
  location: string,
  docs: string,
): Promise<string> {
  guide.step('Can this place hold a world? doctor tries every guarantee that one needs.');
  await mkdir(join(place, 'world'));
  guide.say(`$ mkdir ${join(place, 'world')}`);
  await guide.run(['doctor', location], 0, has('create'));
  guide.step('Make a world. Only now is anything written that stays: one object, its marker.');
  await guide.run(['init', location], 0, has('made world'));
  guide.step('Import a folder. Documents commit in batches: one object for many of them.');
  const imported = await guide.run(
    ['import', docs, '--to', location, '--verbose'],
    0,
    has('new /'),
  );
  const first = /^new (\/.*)$/m.exec(imported)?.[1] ?? '/';
  guide.step(
    'Import it again: files that have not changed are found by their hash, nothing is written.',
  );
  await guide.run(['import', docs, '--to', location], 0, has('imported 0 ('));
  guide.step('Look around. Every line can be given to get or ls as it stands.');
  const listed = await guide.run(['ls', location], 0, has('/'));
  const directory = /^\/.*\/$/m.exec(listed)?.[0];
  if (directory !== undefined) await guide.run(['ls', location, directory], 0, has(directory));
  guide.step('Read one. The bytes are those of the file.');
  await guide.run(['get', location, first], 0, has(''), 5);
  return first;
}

/** A change, its history, and a conflict. */
async function changes(guide: Guide, place: string, location: string, path: string): Promise<void> {
  const edited = join(place, 'edited.md');
  await writeFile(edited, '# Edited on the tour\n\nThe versions before stay.\n');
  guide.step('Write the next version, if the document still is at version 1.');
  const put = ['put', location, path, edited, '--expected', '1'];
  await guide.run(put, 0, has('version 2'));
  guide.step('Its history: each version names the hash of the one before.');
  await guide.run(['versions', location, path, '--verify'], 0, has('the chain of versions holds'));
  await guide.run(['get', location, path, '--version', '1'], 0, has(''), 3);
  guide.step(
    'A conflict: somebody else wrote since you read. Nothing is written, and you are told which',
    'version to look at. Exit status 1.',
  );
  await guide.run(put, 1, has('[CONFLICT]'));
}

async function severalStores(
  guide: Guide,
  context: CommandContext,
  location: string,
): Promise<void> {
  guide.step(
    'Two stores, as two servers would be: they share nothing but the bucket. One writes, the other',
    'reads at once and has it.',
  );
  guide.say(await told(readAtOnce(context, location)));
  guide.step(
    'Eight stores write the same new document at the same moment. One wins, seven are told so.',
  );
  guide.say(await told(raceForOneName(context, location)));
}

/** The same request twice. */
async function repeats(
  guide: Guide,
  context: CommandContext,
  place: string,
  location: string,
  path: string,
): Promise<void> {
  const op = (context.components.random ?? systemRandom).uuid();
  const note = join(place, 'note.md');
  await writeFile(note, 'Added once.\n');
  guide.step(
    'No answer came, so you send it again? Under one operation it happens once, with one answer.',
  );
  const append = ['append', location, path, note, '--op', op];
  const first = await guide.run(append, 0, has('committed'));
  const again = await guide.run(append, 0, has('committed'));
  if (first !== again) throw notAsTold('the repeat was answered otherwise');
  const sequence = /at sequence (\d+)/.exec(first)?.[1] ?? '1';
  await guide.run(['log', location, '--from', sequence], 0, has(`${sequence}  `));
}

async function told(step: Promise<string>): Promise<string> {
  try {
    return await step;
  } catch (error) {
    if (isStoreError(error)) throw error;
    throw notAsTold(error instanceof Error ? error.message : String(error));
  }
}

function notAsTold(problem: string): StoreError {
  return new StoreError('INTEGRITY', `the tour did not go as told: ${problem}`);
}
