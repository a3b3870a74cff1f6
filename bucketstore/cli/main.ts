#!/usr/bin/env node
/** The process around the program: its streams, its signals and its exit status. */
import { StoreError } from '../base/errors.ts';
import { runProgram } from './program.ts';

// The S3 SDK warns at every run that its later versions need a newer Node; ours is pinned, and the
// one line that a person should read is our own.
process.removeAllListeners('warning');
process.on('warning', ({ message }) => {
  if (message.startsWith('NodeVersionSupportWarning')) return;
  process.stderr.write(`bucketstore: ${message}\n`);
});

const interrupted = new AbortController();
// Once: a second Ctrl-C ends the process at once.
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => interrupted.abort(new StoreError('INTERRUPTED', 'interrupted')));
}
// A reader that stops early, such as `head`, ends the program without a stack trace.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await runProgram({
  argv: process.argv.slice(2),
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: interrupted.signal,
  readInput: async () => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk);
    return Buffer.concat(chunks);
  },
});
