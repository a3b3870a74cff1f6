/** `bucketstore ls`: what lies in a directory. */
import { canonicalPath, nameOf } from '../document/path.ts';
import type { ListEntry } from '../snapshot/state.ts';
import type { View } from '../view.ts';
import { type Command, type CommandContext, isSet, numberFlag, textFlag } from './command.ts';
import { withWorld, worldArguments } from './world.ts';

export const ls: Command = {
  name: 'ls',
  summary: 'List a directory; every line can be given to get or ls as it stands.',
  usage: 'LOCATION [PATH]',
  flags: {
    all: { type: 'boolean', help: 'Archived documents too.' },
    limit: { type: 'string', value: 'N', help: 'At most so many lines. Default: all.' },
    after: { type: 'string', value: 'NAME', help: 'Begin behind this name, or printed line.' },
  },
  notes: [
    'Directories end in a slash. Names that begin with a dot, and "versions", are not listed, but',
    'can be read.',
  ],
  examples: ['bucketstore ls file:./data', 'bucketstore ls file:./data /notes --limit 10'],
  run: runLs,
};

/** Entries asked for at once: what is printed is never all in memory. */
const PAGE = 1000;

interface Listed extends ListEntry {
  readonly path: string;
}

async function runLs(context: CommandContext): Promise<number> {
  const { location, rest } = worldArguments(context, '[PATH]');
  const directory = rest[0] ?? '/';
  const limit = numberFlag(context, 'limit', 1) ?? Number.POSITIVE_INFINITY;
  const { output } = context;
  const collected: Listed[] = [];
  await withWorld(context, location, async (world) => {
    await using view = world.view();
    for await (const entry of listed(context, view, directory, limit)) {
      if (output.json) collected.push(entry);
      else output.line(entry.path);
    }
  });
  if (output.json) output.result({ path: directory, entries: collected }, []);
  return 0;
}

/** Pages through one snapshot. A document stands for itself. */
async function* listed(
  context: CommandContext,
  view: View,
  directory: string,
  limit: number,
): AsyncGenerator<Listed> {
  const { signal } = context;
  const canonical = canonicalPath(directory) ?? directory;
  if (!(await view.isDir(directory, { signal }))) {
    yield { name: nameOf(canonical), path: canonical, isDir: false };
    return;
  }
  const base = canonical === '/' ? '' : canonical;
  const includeArchived = isSet(context, 'all');
  let after = lastName(textFlag(context, 'after'));
  for (let left = limit; left > 0; ) {
    signal.throwIfAborted();
    const wanted = Math.min(PAGE, left);
    const page = await view.listEntries(directory, {
      after,
      limit: wanted,
      includeArchived,
      signal,
    });
    for (const { name, isDir } of page) {
      yield { name, path: `${base}/${name}${isDir ? '/' : ''}`, isDir };
    }
    if (page.length < wanted) return;
    left -= page.length;
    after = page.at(-1)?.name;
  }
}

/** `--after` takes a name, and a line as it was printed. */
function lastName(text: string | undefined): string | undefined {
  return text === undefined ? undefined : nameOf(text.replace(/\/$/, ''));
}
