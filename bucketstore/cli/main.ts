#!/usr/bin/env node
/** The process around the program: its streams, its signals and its exit status. */
import { fstatSync } from 'node:fs';
import { ERROR_CODES, StoreError } from '../base/errors.ts';
import { runProgram } from './program.ts';

// The S3 SDK warns at every run that its later versions need a newer Node; ours is pinned, and the
// one line that a person should read is our own.
process.removeAllListeners('warning');
process.on('warning', ({ message }) => {
  if (message.startsWith('NodeVersionSupportWarning')) return;
  process.stderr.write(`bucketstore: ${message}\n`);
});

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    // A second signal, whichever, ends the process at once.
    if (interrupted.signal.aborted) process.exit(ERROR_CODES.INTERRUPTED.exit);
    interrupted.abort(new StoreError('INTERRUPTED', 'interrupted'));
  });
}
// A reader that stops early, such as `head`, wants no more to read; the work goes on and has its
// own status. Any other failure leaves open, to whoever reads the output, what was done.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`bucketstore: the output cannot be written (${error.code})\n`);
  process.exit(ERROR_CODES.UNKNOWN_OUTCOME.exit);
});

process.exitCode = await runProgram({
  argv: process.argv.slice(2),
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: interrupted.signal,
  readInput: async () => {
    if (fstatSync(process.stdin.fd).isDirectory()) {
      throw new StoreError('USAGE', 'standard input is a directory; give a file, or text');
    }
    const chunks: Uint8Array[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk);
    return Buffer.concat(chunks);
  },
});
