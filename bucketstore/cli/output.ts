/**
 * How the program speaks: results to standard output, everything else to standard error. What it
 * says to a person is shown as it is, whoever wrote it: nothing of it acts on the terminal.
 */
import type { StoreError } from '../base/errors.ts';
import type { Output } from './command.ts';
import { visible } from './visible.ts';

/** Where output goes: what a process's streams have of what is needed here. */
export interface Stream {
  write(data: string | Uint8Array): unknown;
  readonly isTTY?: boolean | undefined;
}

/** Output in the manner that was asked for. */
export function createOutput(json: boolean, out: Stream, err: Stream): Output {
  let shown = false;
  const clear = (): void => {
    if (shown) err.write('\r\u001b[K');
    shown = false;
  };
  return {
    json,
    line(text) {
      clear();
      if (!json) out.write(`${visible(text)}\n`);
    },
    result(value, lines) {
      clear();
      if (json) out.write(`${JSON.stringify(value)}\n`);
      else for (const line of lines) out.write(`${visible(line)}\n`);
    },
    bytes(bytes) {
      clear();
      out.write(bytes);
    },
    progress(text) {
      if (err.isTTY !== true || json) return;
      err.write(`\r\u001b[K${visible(text)}`);
      shown = true;
    },
    warn(text) {
      clear();
      err.write(`bucketstore: ${visible(text)}\n`);
    },
  };
}

/**
 * One line that says what went wrong and, of a command that asks for a change, what became of that;
 * with `--json` an object.
 */
export function describeError(
  error: StoreError,
  { json, writes }: { readonly json: boolean; readonly writes: boolean },
): string {
  if (json) return JSON.stringify({ error: error.toJSON() });
  const message = error.message.replaceAll('\n', ' ');
  const { outcome } = error;
  const said = outcome === null || message.startsWith(outcome);
  const words = writes && !said ? `${outcome}: ${message}` : message;
  return `bucketstore: ${visible(words)} [${error.code}]`;
}
