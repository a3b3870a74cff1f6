/**
 * Opening the world that a command is about, and what is written and read of documents in words.
 */
import { readFile } from 'node:fs/promises';
import { StoreError } from '../base/errors.ts';
import { isUuid } from '../base/uuid.ts';
import type { Expected } from '../commit/mutation.ts';
import type { WriteResult } from '../commit/result.ts';
import { openWorld } from '../open.ts';
import type { OpenOptions } from '../options.ts';
import type { DocumentInfo } from '../snapshot/reader.ts';
import type { World } from '../world.ts';
import { type CommandContext, listFlag, textFlag } from './command.ts';
import { locationArguments, readLocation } from './location.ts';

/**
 * Opens the world at a location, uses it, and closes it whatever happens. A command does what it is
 * asked for and no more: checkpoints are made by what runs for longer.
 */
export async function withWorld<T>(
  context: CommandContext,
  location: string,
  use: (world: World) => Promise<T>,
  options: Pick<OpenOptions, 'create' | 'early' | 'worldId' | 'settings' | 'components'> = {},
): Promise<T> {
  readLocation(location);
  const components = { ...context.components, ...options.components };
  const settings = { compact: false, ...options.settings };
  const { signal } = context;
  const world = await openWorld(location, { ...options, settings, components, signal });
  try {
    return await use(world);
  } finally {
    await world.close();
  }
}

/**
 * The location and the arguments behind it.
 * @param names what is wanted behind the location; a name in brackets may be left out
 * @throws StoreError `USAGE` naming what is missing, or what is too much
 */
export function worldArguments(
  context: CommandContext,
  ...names: readonly string[]
): { readonly location: string; readonly rest: readonly string[] } {
  const { location, rest } = locationArguments(context);
  const missing = names.find((name, index) => index >= rest.length && !name.startsWith('['));
  if (missing !== undefined) throw new StoreError('USAGE', `${missing} is missing; see --help`);
  const extra = rest[names.length];
  if (extra !== undefined) throw new StoreError('USAGE', `"${extra}" is one argument too many`);
  return { location, rest };
}

/**
 * What `--expected` says; undefined when it was not given.
 * @throws StoreError `USAGE`
 */
export function expectedFlag(context: CommandContext): Expected | undefined {
  const text = textFlag(context, 'expected');
  if (text === undefined || text === 'absent' || text === 'any') return text;
  if (/^[0-9a-f]{64}$/.test(text)) return { etag: text };
  const version = /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(version)) return version === 0 ? 'absent' : version;
  throw new StoreError(
    'USAGE',
    `--expected is a version, "absent", "any" or an ETag of 64 hex digits, got "${text}"`,
  );
}

/** What `--meta KEY=VALUE` says, the last of a key counting. @throws StoreError `USAGE` */
export function metaFlags(context: CommandContext): Record<string, string> {
  const metadata: Record<string, string> = Object.create(null);
  for (const pair of listFlag(context, 'meta')) {
    const at = pair.indexOf('=');
    if (at < 1) throw new StoreError('USAGE', `--meta is KEY=VALUE, got "${pair}"`);
    metadata[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return metadata;
}

/** What `--op` says. @throws StoreError `USAGE` */
export function opFlag(context: CommandContext): string | undefined {
  const op = textFlag(context, 'op');
  if (op === undefined || isUuid(op)) return op;
  throw new StoreError('USAGE', `--op is a lower-case UUID, got "${op}"`);
}

/** The bytes of a file, or of standard input for `-` or nothing. @throws StoreError `USAGE` */
export async function readSource(
  context: CommandContext,
  file: string | undefined,
): Promise<Uint8Array> {
  if (file === undefined || file === '-') return context.readInput();
  try {
    return await readFile(file, { signal: context.signal });
  } catch (error) {
    context.signal.throwIfAborted();
    const problem = error instanceof Error ? error.message : String(error);
    throw new StoreError('USAGE', `cannot read ${file}: ${problem}`, { cause: error });
  }
}

/** The flags of every command that writes. */
export const WRITE_FLAGS = {
  op: {
    type: 'string',
    value: 'UUID',
    help: 'What the request is known by: sent again with it, it gets its first answer.',
  },
} as const;

/** The answer of a write, in words and as JSON. The body is left out. */
export function writeAnswer(result: WriteResult): {
  readonly value: unknown;
  readonly lines: readonly string[];
} {
  const { committed, op, sequence, document, pruned } = result;
  const { body: _, ...info } = document;
  const value = { committed, op, sequence, pruned, document: info };
  const words = committed
    ? `committed ${info.path} version ${info.version} at sequence ${sequence}`
    : `not modified: ${info.path} is as it was, at version ${info.version}`;
  return { value, lines: [words, `  etag ${info.etag}`, `  op ${op}`] };
}

/** A document's facts as lines. */
export function infoLines(info: DocumentInfo): readonly string[] {
  const metadata = Object.entries(info.metadata ?? {}).map(([key, value]) => `  ${key}: ${value}`);
  return [
    `path      ${info.path}`,
    `version   ${info.version}${info.archived ? ' (archived)' : ''}`,
    `modified  ${info.modified}`,
    `etag      ${info.etag}`,
    `body      ${info.bodyHash}`,
    ...(metadata.length === 0 ? [] : ['metadata', ...metadata]),
  ];
}
