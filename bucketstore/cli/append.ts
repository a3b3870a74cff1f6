/** `bucketstore append`: adds to a document. */
import { isStoreError, StoreError } from '../base/errors.ts';
import type { WriteResult } from '../commit/result.ts';
import type { World } from '../world.ts';
import type { Command, CommandContext } from './command.ts';
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

/** How often a version that was just read may turn out old before the command gives up. */
const TRIES_MAX = 10;

export const append: Command = {
  name: 'append',
  summary: 'Add text to the end of a document, as its next version.',
  usage: 'LOCATION PATH [FILE|-]',
  writes: true,
  flags: {
    expected: {
      type: 'string',
      value: 'N|ETAG',
      help: `The version it must have. Default: whichever it has, tried ${TRIES_MAX} times.`,
    },
    meta: {
      type: 'string',
      value: 'KEY=VALUE',
      multiple: true,
      help: 'Metadata laid over the document’s; repeatable.',
    },
    ...WRITE_FLAGS,
  },
  examples: ['echo "one more line" | bucketstore append file:./data /log.md'],
  run: runAppend,
};

async function runAppend(context: CommandContext): Promise<number> {
  const { location, rest } = worldArguments(context, 'PATH', '[FILE]');
  const [path = '', file] = rest;
  const expected = expectedFlag(context);
  if (expected === 'any' || expected === 'absent') {
    throw new StoreError('USAGE', `append expects a version or an ETag, not "${expected}"`);
  }
  const options = { op: opFlag(context), signal: context.signal };
  const metadata = metaFlags(context);
  const content = await readSource(context, file);
  const result = await withWorld(context, location, (world) => {
    const request = { path, content, metadata };
    if (expected === undefined) return appendToCurrent(world, request, options);
    return world.append({ ...request, expected }, options);
  });
  const { value, lines } = writeAnswer(result);
  context.output.result(value, lines);
  return 0;
}

async function appendToCurrent(
  world: World,
  request: Omit<Parameters<World['append']>[0], 'expected'>,
  options: NonNullable<Parameters<World['append']>[1]>,
): Promise<WriteResult> {
  for (let tries = 1; ; tries++) {
    await using view = world.view();
    const { version } = await view.stat(request.path, { signal: options.signal });
    try {
      return await world.append({ ...request, expected: version }, options);
    } catch (error) {
      if (!isStoreError(error) || error.code !== 'CONFLICT' || tries === TRIES_MAX) throw error;
    }
  }
}
