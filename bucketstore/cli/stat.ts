/** `bucketstore stat`: what a world, or a document, is now. */
import type { Command, CommandContext } from './command.ts';
import { isSchema1, refuseDocument, statOld } from './schema1.ts';
import { infoLines, withWorld, worldArguments } from './world.ts';

export const stat: Command = {
  name: 'stat',
  summary: 'Show what a world is now, or a document without its body.',
  usage: 'LOCATION [PATH]',
  flags: {},
  notes: ['Of a world in the old format (schema 1): its size, and what moving it would take.'],
  examples: ['bucketstore stat file:./data', 'bucketstore stat file:./data /notes/a.md --json'],
  run: runStat,
};

async function runStat(context: CommandContext): Promise<number> {
  const { location, rest } = worldArguments(context, '[PATH]');
  const [path] = rest;
  try {
    await statNew(context, location, path);
    return 0;
  } catch (error) {
    if (!isSchema1(error)) throw error;
    if (path !== undefined) throw refuseDocument(location);
    return statOld(context, location);
  }
}

async function statNew(
  context: CommandContext,
  location: string,
  path: string | undefined,
): Promise<void> {
  const { signal, output } = context;
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
}
