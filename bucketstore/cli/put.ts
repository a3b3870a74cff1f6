/** `bucketstore put`: makes a new version of a document. */
import { readFrontMatter } from '../document/front-matter.ts';
import { type Command, type CommandContext, isSet } from './command.ts';
import {
  expectedFlag,
  metaFlags,
  opFlag,
  readSource,
  WRITE_FLAGS,
  withWorld,
  worldArguments,
  writeAnswer,
} from './world.ts';

export const put: Command = {
  name: 'put',
  summary: 'Write a document: a new one, or the next version of one.',
  usage: 'LOCATION PATH [FILE|-]',
  writes: true,
  flags: {
    expected: {
      type: 'string',
      value: 'N|absent|any|ETAG',
      help: 'What the document must be now, else nothing is written. Default: any.',
    },
    meta: { type: 'string', value: 'KEY=VALUE', multiple: true, help: 'Metadata; repeatable.' },
    'no-front-matter': { type: 'boolean', help: 'Do not read leading front matter as metadata.' },
    ...WRITE_FLAGS,
  },
  notes: [
    'Front matter at the head of the text becomes metadata where it fits, and stays in the body',
    'byte for byte; --meta goes before it. What does not fit is named and left out.',
  ],
  examples: [
    'bucketstore put file:./data /notes/a.md notes/a.md --expected absent',
    'echo "# Hello" | bucketstore put file:./data /hello.md --meta tags=greeting,first',
  ],
  run: runPut,
};

async function runPut(context: CommandContext): Promise<number> {
  const { location, rest } = worldArguments(context, 'PATH', '[FILE]');
  const [path = '', file] = rest;
  const expected = expectedFlag(context) ?? 'any';
  const op = opFlag(context);
  const given = metaFlags(context);
  const body = await readSource(context, file);
  const metadata = { ...frontMatterOf(context, path, body), ...given };
  const result = await withWorld(context, location, (world) =>
    world.publish({ path, expected, body, metadata }, { op, signal: context.signal }),
  );
  const { value, lines } = writeAnswer(result);
  context.output.result(value, lines);
  return 0;
}

function frontMatterOf(
  context: CommandContext,
  path: string,
  body: Uint8Array,
): Readonly<Record<string, string>> {
  if (isSet(context, 'no-front-matter')) return {};
  const { metadata, problems } = readFrontMatter(body);
  for (const { line, key, reason } of problems) {
    const what = key === undefined ? '' : ` "${key}"`;
    context.output.warn(`${path}: front matter line ${line}${what} is no metadata: ${reason}`);
  }
  return metadata ?? {};
}
