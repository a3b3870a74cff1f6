/** `bucketstore archive` and `unarchive`: take a document out of sight, and bring it back. */
import type { Command, CommandContext } from './command.ts';
import { expectedFlag, opFlag, WRITE_FLAGS, withWorld, worldArguments } from './world.ts';

export const archive: Command = commandFor(
  'archive',
  true,
  'Take a document out of listings; its versions stay.',
);

export const unarchive: Command = commandFor(
  'unarchive',
  false,
  'Bring an archived document back.',
);

function commandFor(name: string, archived: boolean, summary: string): Command {
  return {
    name,
    summary,
    usage: 'LOCATION PATH',
    writes: true,
    flags: {
      expected: {
        type: 'string',
        value: 'N|any|ETAG',
        help: 'What the document must be now. Default: any.',
      },
      ...WRITE_FLAGS,
    },
    examples: [`bucketstore ${name} file:./data /notes/a.md`],
    run: (context) => setArchived(context, archived),
  };
}

async function setArchived(context: CommandContext, archived: boolean): Promise<number> {
  const { location, rest } = worldArguments(context, 'PATH');
  const [path = ''] = rest;
  const expected = expectedFlag(context);
  const options = { op: opFlag(context), signal: context.signal };
  const result = await withWorld(context, location, (world) =>
    world.setArchived({ path, archived, expected }, options),
  );
  const { committed, sequence, document } = result;
  const state = archived ? 'archived' : 'not archived';
  const words = committed
    ? `committed: ${document.path} is ${state} from sequence ${sequence} on`
    : `not modified: ${document.path} already is ${state}`;
  const { body: _, ...info } = { body: null, ...document };
  context.output.result({ ...result, document: info }, [words]);
  return 0;
}
