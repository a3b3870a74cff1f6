/** `bucketstore init`: makes a world at an empty location. */
import type { Command, CommandContext } from './command.ts';
import { genesisFailure } from './failure.ts';
import { observeGenesis } from './genesis-observer.ts';
import { withWorld, worldArguments } from './world.ts';
import { worldIdFlag } from './world-id.ts';

export const init: Command = {
  name: 'init',
  summary: 'Make a new, empty world at an empty location, after trying every guarantee it needs.',
  usage: 'LOCATION [--world-id UUID]',
  writes: true,
  flags: {
    'world-id': { type: 'string', value: 'UUID', help: 'Its ID. Default: a random one.' },
  },
  notes: [
    'A world that is there already is left as it is, and the exit status is 0; one of another ID',
    'than asked for is refused.',
  ],
  examples: ['bucketstore init file:./data', 'bucketstore init gs://my-bucket/worlds/notes'],
  run: runInit,
};

async function runInit(context: CommandContext): Promise<number> {
  const { location } = worldArguments(context);
  const worldId = worldIdFlag(context);
  const genesis = observeGenesis();
  const stat = await withWorld(context, location, (world) => world.stat(), {
    create: true,
    ...(worldId === undefined ? {} : { worldId }),
    components: { observer: genesis.observer },
  }).catch((error: unknown) => {
    throw genesisFailure(error, genesis);
  });
  const created = genesis.created();
  const words = created ? `made world ${stat.worldId}` : `world ${stat.worldId} is there already`;
  context.output.result(
    { created, location, worldId: stat.worldId, incarnationId: stat.incarnationId },
    [`${words}, at ${location}`],
  );
  return 0;
}
