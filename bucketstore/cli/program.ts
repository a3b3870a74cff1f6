/**
 * The program without its process: reads a command line, runs one command, and gives its status.
 */
import { parseArgs } from 'node:util';
import { ERROR_CODES, StoreError } from '../base/errors.ts';
import type { Components } from '../options.ts';
import type { Command, CommandContext, FlagValue } from './command.ts';
import { commands } from './commands.ts';
import { storeErrorOf } from './failure.ts';
import { commandHelp, programHelp } from './help.ts';
import { createOutput, describeError, type Stream } from './output.ts';

/** What a run of the program is given. */
export interface Host {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly readInput: () => Promise<Uint8Array>;
  /** Aborts when the run is to end; its reason becomes the failure. */
  readonly signal: AbortSignal;
  /** Handed to every world that is opened. Default: the system's. */
  readonly components?: Partial<Components>;
}

/** Runs one command line. Resolves with the exit status, whatever happens. */
export async function runProgram(host: Host): Promise<number> {
  const [name, ...args] = host.argv;
  const json = host.argv.includes('--json');
  const command = commands.find((one) => one.name === name);
  try {
    checkEncoding(host.argv);
    if (command === undefined) return other(host, name, args);
    return await runCommand(host, command, args, json);
  } catch (error) {
    const failure = storeErrorOf(error);
    const words = describeError(failure, { json, writes: command?.writes === true });
    host.stderr.write(`${words}\n`);
    return ERROR_CODES[failure.code].exit;
  }
}

/**
 * Node puts U+FFFD for what is not UTF-8 in an argument; what was meant can then no longer be told.
 */
function checkEncoding(argv: readonly string[]): void {
  const broken = argv.find((argument) => argument.includes('\ufffd'));
  if (broken === undefined) return;
  throw new StoreError(
    'USAGE',
    `the argument "${broken}" is not UTF-8 (or has a U+FFFD, which stands for what is not): what ` +
      'it names cannot be told',
  );
}

/** Help, and what is no command. */
function other(host: Host, name: string | undefined, args: readonly string[]): number {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    const topic = commands.find((command) => command.name === args[0]);
    const text = topic === undefined ? programHelp(commands) : commandHelp(topic);
    host.stdout.write(`${text}\n`);
    return name === undefined ? 2 : 0;
  }
  throw new StoreError('USAGE', `there is no command "${name}"; see bucketstore --help`);
}

async function runCommand(
  host: Host,
  command: Command,
  args: readonly string[],
  json: boolean,
): Promise<number> {
  const { values, positionals } = readArguments(command, args);
  if (values['help'] === true) {
    host.stdout.write(`${commandHelp(command)}\n`);
    return 0;
  }
  const { env, signal, readInput, components = {} } = host;
  const context: CommandContext = {
    positionals,
    flags: values,
    env,
    output: createOutput(json, host.stdout, host.stderr),
    signal,
    readInput,
    components,
    runOther: (argv, write) => {
      const stream = textStream(write);
      return runProgram({ ...host, argv, stdout: stream, stderr: stream });
    },
  };
  return command.run(context);
}

function textStream(write: (text: string) => void): Stream {
  return {
    write: (data) => write(typeof data === 'string' ? data : Buffer.from(data).toString('utf8')),
  };
}

interface ReadArguments {
  readonly values: Readonly<Record<string, FlagValue>>;
  readonly positionals: readonly string[];
}

function readArguments(command: Command, args: readonly string[]): ReadArguments {
  const options: Record<string, { type: 'boolean' | 'string'; multiple?: boolean }> = {
    json: { type: 'boolean' },
    help: { type: 'boolean' },
    location: { type: 'string' },
  };
  for (const [name, { type, multiple = false }] of Object.entries(command.flags)) {
    options[name] = { type, multiple };
  }
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    const values: Record<string, FlagValue> = {};
    for (const [key, value] of Object.entries(parsed.values)) {
      values[key] = Array.isArray(value) ? value.map(String) : value;
    }
    return { values, positionals: parsed.positionals };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new StoreError('USAGE', `${problem}; see bucketstore ${command.name} --help`);
  }
}
