/** `bucketstore stat`: what a world, or a document, is now. */
import type { Command, CommandContext } from './command.ts';
import { infoLines, withWorld, worldArguments } from './world.ts';

export const stat: Command = {
  name: 'stat',
  summary: 'Show what a world is now, or a document without its body.',
  usage: 'LOCATION [PATH]',
  flags: {},
  examples: ['bucketstore stat file:./data', 'bucketstore stat file:./data /notes/a.md --json'],
  run: runStat,
};

async function runStat(context: CommandContext): Promise<number> {
  const { location, rest } = worldArguments(context, '[PATH]');
  const { signal, output } = context;
  const [path] = rest;
  await withWorld(context, location, async (world) => {
    if (path === undefined) {
      const facts = await world.stat({ signal });
      const { storeId: _, ...shown } = facts;
      output.result(shown, [
        `world        ${facts.worldId}`,
        `incarnation  ${facts.incarnationId}`,
        `sequence     ${facts.sequence}`,
        `documents    ${facts.documents} (archived ones included)`,
        `epoch        ${facts.epoch}`,
        `log kept     from sequence ${facts.floor}`,
        ...(facts.sealed ? ['sealed       no write is taken any more'] : []),
      ]);
      return;
    }
    await using view = world.view();
    const info = await view.stat(path, { signal });
    output.result(info, infoLines(info));
  });
  return 0;
}
