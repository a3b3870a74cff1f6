/** `bucketstore versions`: the retained versions of a document. */
import { type Command, type CommandContext, isSet } from './command.ts';
import { withWorld, worldArguments } from './world.ts';

export const versions: Command = {
  name: 'versions',
  summary: 'Show the retained versions of a document, newest first.',
  usage: 'LOCATION PATH',
  flags: {
    verify: { type: 'boolean', help: 'Read them all and check that each names the one before.' },
  },
  examples: ['bucketstore versions file:./data /notes/a.md --verify'],
  run: runVersions,
};

async function runVersions(context: CommandContext): Promise<number> {
  const { location, rest } = worldArguments(context, 'PATH');
  const [path = ''] = rest;
  const { signal } = context;
  const found = await withWorld(context, location, async (world) => {
    await using view = world.view();
    const all = await view.versions(path, { signal });
    if (isSet(context, 'verify')) await view.verifyChain(path, { signal });
    return all;
  });
  const verified = isSet(context, 'verify') ? ['the chain of versions holds'] : [];
  const lines = found.map(({ version, modified, etag }) => `${version}  ${modified}  ${etag}`);
  context.output.result({ path, versions: found }, [...lines, ...verified]);
  return 0;
}
