/** `bucketstore get`: a document's bytes. */
import { StoreError } from '../base/errors.ts';
import { decodeUtf8 } from '../document/text.ts';
import type { Document } from '../snapshot/reader.ts';
import type { World } from '../world.ts';
import { type Command, type CommandContext, isSet, numberFlag } from './command.ts';
import { withWorld, worldArguments } from './world.ts';

export const get: Command = {
  name: 'get',
  summary: 'Write a document to standard output, byte for byte.',
  usage: 'LOCATION PATH',
  flags: {
    version: { type: 'string', value: 'N', help: 'A retained version. Default: the current one.' },
    archived: { type: 'boolean', help: 'Also when it is archived.' },
  },
  notes: ['With --json: the document’s facts, its metadata and its body as one string.'],
  examples: [
    'bucketstore get file:./data /notes/a.md',
    'bucketstore get file:./data /notes/a.md --version 1 > old.md',
  ],
  run: runGet,
};

async function runGet(context: CommandContext): Promise<number> {
  const { location, rest } = worldArguments(context, 'PATH');
  const [path = ''] = rest;
  const version = numberFlag(context, 'version', 1);
  const { signal, output } = context;
  const read = async (world: World): Promise<Document> => {
    await using view = world.view();
    return await view.get(path, { version, signal });
  };
  const document = await withWorld(context, location, read, { early: version === undefined });
  if (document.archived && !isSet(context, 'archived')) {
    throw new StoreError(
      'ARCHIVED',
      `${document.path} is archived; --archived reads it, unarchive brings it back`,
      { details: { path: document.path, currentVersion: document.version } },
    );
  }
  if (output.json) output.result({ ...document, body: decodeUtf8(document.body) }, []);
  else output.bytes(document.body);
  return 0;
}
