/** Runs the program in this process, its output captured. */

import { runProgram } from '../../bucketstore/cli/program.ts';
import type { Components } from '../../bucketstore/index.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';

export interface RunOptions {
  readonly input?: Uint8Array | string;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly components?: Partial<Components>;
  /** Standard error is a terminal. */
  readonly terminal?: boolean;
}

export interface Run {
  readonly exit: number;
  readonly bytes: Uint8Array;
  readonly out: string;
  readonly err: string;
}

export interface Runner {
  /** Runs `bucketstore` with these arguments, on a clock of its own that stands still. */
  runCommand(argv: readonly string[], options?: RunOptions): Promise<Run>;
  /** The JSON of a run with `--json`: of its result, else of its failure. */
  runJson<T>(argv: readonly string[], options?: RunOptions): Promise<T>;
}

/** A runner whose every run draws from another seed, as every process does. */
export function commandRunner(): Runner {
  let seed = 0;
  const runCommand: Runner['runCommand'] = (argv, options = {}) => run(argv, options, ++seed);
  return {
    runCommand,
    async runJson(argv, options) {
      const { out, err } = await runCommand([...argv, '--json'], options);
      return JSON.parse(out === '' ? err : out);
    },
  };
}

async function run(argv: readonly string[], options: RunOptions, seed: number): Promise<Run> {
  const out: Buffer[] = [];
  let err = '';
  const components = {
    clock: new ManualClock(),
    random: new SeededRandom(seed),
    ...options.components,
  };
  const exit = await runProgram({
    argv,
    env: options.env ?? {},
    stdout: { write: (data) => out.push(Buffer.from(data)) },
    stderr: {
      isTTY: options.terminal,
      write: (data) => {
        err += String(data);
      },
    },
    signal: options.signal ?? new AbortController().signal,
    readInput: async () => Buffer.from(options.input ?? ''),
    components,
  });
  const bytes = Buffer.concat(out);
  return { exit, bytes, out: bytes.toString('utf8'), err };
}
