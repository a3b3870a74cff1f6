/** `bucketstore log`: the entries of a world's log. */
import type { LogEntry } from '../entries.ts';
import type { World } from '../world.ts';
import { type Command, type CommandContext, numberFlag } from './command.ts';
import { withWorld, worldArguments } from './world.ts';

export const log: Command = {
  name: 'log',
  summary: 'Show every change of a world in order, one line each.',
  usage: 'LOCATION',
  flags: {
    from: { type: 'string', value: 'N', help: 'The first sequence. Default: the oldest kept.' },
    limit: { type: 'string', value: 'N', help: 'At most so many entries. Default: all.' },
  },
  examples: ['bucketstore log file:./data', 'bucketstore log file:./data --from 1000 --json'],
  run: runLog,
};

async function runLog(context: CommandContext): Promise<number> {
  const { location } = worldArguments(context);
  const from = numberFlag(context, 'from', 1);
  const limit = numberFlag(context, 'limit', 1) ?? Number.POSITIVE_INFINITY;
  await withWorld(context, location, (world) => show(context, world, from, limit));
  return 0;
}

async function show(
  context: CommandContext,
  world: World,
  from: number | undefined,
  limit: number,
): Promise<void> {
  const { signal, output } = context;
  const start = from ?? (await world.stat({ signal })).floor;
  let shown = 0;
  for await (const one of world.entries(start, { signal })) {
    signal.throwIfAborted();
    const { entry, time, ...place } = one;
    const iso = new Date(time).toISOString();
    output.result({ ...place, time: iso, ...entry }, [`${one.sequence}  ${iso}  ${words(one)}`]);
    if (++shown === limit) return;
  }
}

function words({ entry }: LogEntry): string {
  switch (entry.kind) {
    case 'write':
      return `${entry.verb} ${entry.path} version ${entry.version}`;
    case 'archive':
      return `${entry.archived ? 'archive' : 'unarchive'} ${entry.path}`;
    default:
      return entry.kind;
  }
}
