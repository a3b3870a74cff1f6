/** The program as a process, as a person starts it. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

export const ROOT: string = join(import.meta.dirname, '..', '..');
const MAIN = join(ROOT, 'bucketstore', 'cli', 'main.ts');

export interface Ended {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;
}

export type Environment = Readonly<Record<string, string>>;

/** Starts a command; its input stays open. */
export function startProgram(...argv: readonly string[]): Started {
  return start(argv, {});
}

/** Runs a command with nothing to read. */
export function runProgram(...argv: readonly string[]): Promise<Ended> {
  return runProgramWith({}, ...argv);
}

/** Runs a command with more in its environment. */
export function runProgramWith(env: Environment, ...argv: readonly string[]): Promise<Ended> {
  const { child, ended } = start(argv, env);
  child.stdin.end();
  return ended;
}

function start(argv: readonly string[], env: Environment): Started {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...argv], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    // A command that hangs is a failure, not a test that never ends.
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const ended = once(child, 'close').then(([exit]): Ended => ({ exit, out, err }));
  return { child, ended };
}

/** Every file below a directory, with its path. */
export async function filesBelow(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}
