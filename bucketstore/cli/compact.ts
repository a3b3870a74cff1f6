/** `bucketstore compact`: makes checkpoints up to the end of the log. */
import type { Command, CommandContext } from './command.ts';
import { withWorld, worldArguments } from './world.ts';

export const compact: Command = {
  name: 'compact',
  summary: 'Make checkpoints up to the end of the log, so that opening the world replays less.',
  usage: 'LOCATION',
  writes: true,
  flags: {},
  notes: [
    'Safe beside any number of writers and of other compactors, and may be interrupted: what is',
    'half done is no checkpoint. The log stays as it is.',
  ],
  examples: ['bucketstore compact file:./data'],
  run: runCompact,
};

async function runCompact(context: CommandContext): Promise<number> {
  const { location } = worldArguments(context);
  const { signal, output } = context;
  await withWorld(context, location, async (world) => {
    const { newest, written } = await world.compact({ signal });
    const at = newest === null ? 'none: the log is empty' : `at sequence ${newest.sequence}`;
    output.result({ written, newest }, [
      `${written} checkpoint${written === 1 ? '' : 's'} made; the newest is ${at}`,
    ]);
  });
  return 0;
}
