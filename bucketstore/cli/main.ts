#!/usr/bin/env node
/**
 * The program: reads the command line, runs one command, and turns its failure into one line and a
 * status.
 */
import { parseArgs } from 'node:util';
import { ERROR_CODES, isStoreError, StoreError } from '../base/errors.ts';
import { bucketFailure } from '../log/failure.ts';
import type { Command, CommandContext } from './command.ts';
import { commands } from './commands.ts';
import { commandHelp, programHelp } from './help.ts';
import { createOutput, describeError } from './output.ts';

// The S3 SDK warns at every run that its later versions need a newer Node; ours is pinned, and the
// one line that a person should read is our own.
process.removeAllListeners('warning');
process.on('warning', ({ message }) => {
  if (!message.startsWith('NodeVersionSupportWarning'))
    process.stderr.write(`bucketstore: ${message}\n`);
});
process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  const json = argv.includes('--json');
  const interrupted = new AbortController();
  const onSignal = (): void => interrupted.abort(new StoreError('INTERRUPTED', 'interrupted'));
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  process.stdout.on('error', onPipeError);
  try {
    return await dispatch(argv, json, interrupted.signal);
  } catch (error) {
    const failure = storeErrorOf(bucketFailure(error));
    process.stderr.write(`${describeError(failure, json)}\n`);
    return ERROR_CODES[failure.code].exit;
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}

async function dispatch(
  argv: readonly string[],
  json: boolean,
  signal: AbortSignal,
): Promise<number> {
  const [name, ...args] = argv;
  const output = createOutput(json, process.stdout, process.stderr);
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    const topic = commands.find((command) => command.name === args[0]);
    const text = topic === undefined ? programHelp(commands) : commandHelp(topic);
    process.stdout.write(`${text}\n`);
    return name === undefined ? 2 : 0;
  }
  const command = commands.find((one) => one.name === name);
  if (command === undefined) {
    throw new StoreError('USAGE', `there is no command "${name}"; see bucketstore --help`);
  }
  const { values, positionals } = readArguments(command, args);
  if (values['help'] === true) {
    process.stdout.write(`${commandHelp(command)}\n`);
    return 0;
  }
  const context: CommandContext = {
    positionals,
    flags: values,
    env: process.env,
    output,
    signal,
    readInput,
  };
  return command.run(context);
}

interface ReadArguments {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

function readArguments(command: Command, args: readonly string[]): ReadArguments {
  const options: Record<string, { type: 'boolean' | 'string' }> = {
    json: { type: 'boolean' },
    help: { type: 'boolean' },
    location: { type: 'string' },
  };
  for (const [name, { type }] of Object.entries(command.flags)) options[name] = { type };
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    const values: Record<string, string | boolean | undefined> = {};
    for (const [key, value] of Object.entries(parsed.values)) {
      if (typeof value === 'string' || typeof value === 'boolean') values[key] = value;
    }
    return { values, positionals: parsed.positionals };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new StoreError('USAGE', `${problem}; see bucketstore ${command.name} --help`);
  }
}

async function readInput(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Anything that is no answer of the store is a defect, and said as one. */
function storeErrorOf(error: unknown): StoreError {
  if (isStoreError(error)) return error;
  if (error instanceof RangeError || error instanceof TypeError) {
    return new StoreError('USAGE', error.message, { cause: error });
  }
  const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new StoreError('INTEGRITY', `a defect of bucketstore, please report it: ${problem}`);
}

/** A reader that stops early, such as `head`, ends the program without a stack trace. */
function onPipeError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
}
