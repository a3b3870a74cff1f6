/** The process around the simulation: its arguments, its streams and its exit status. */
import { MUTANTS } from './mutants/list.ts';
import { registerMutants } from './mutants/load.ts';
import { runProgram } from './program.ts';

const { stdout, stderr } = process;
// A reader that stops early, such as `head`, wants no more.
stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

/** The line that shows how far it is is gone before another is printed. */
const clear = stderr.isTTY && stdout.isTTY ? '\r\x1b[K' : '';

try {
  registerMutants();
  process.exitCode = await runProgram({
    argv: process.argv.slice(2),
    mutants: MUTANTS.map(({ name }) => name),
    print: (line) => {
      stdout.write(`${clear}${line}\n`);
    },
    progress: (line) => {
      if (clear !== '') stderr.write(`${clear}${line}`);
    },
    now: () => performance.now(),
  });
} catch (error) {
  stderr.write(`sim: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
  process.exitCode = 1;
}
