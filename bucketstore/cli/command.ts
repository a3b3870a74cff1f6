/** What a command is, and what it is run with. */

/** A flag of a command, as `util.parseArgs` takes it, and what help says of it. */
export interface Flag {
  readonly type: 'boolean' | 'string';
  readonly help: string;
  /** Placeholder of its value in help. */
  readonly value?: string;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Arguments behind the name, as help shows them. */
  readonly usage: string;
  readonly flags: Readonly<Record<string, Flag>>;
  readonly examples: readonly string[];
  /** Resolves with the exit status; failures are thrown. */
  run(context: CommandContext): Promise<number>;
}

export interface CommandContext {
  readonly positionals: readonly string[];
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly output: Output;
  /** Aborts on Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  /** All of standard input. */
  readonly readInput: () => Promise<Uint8Array>;
}

export interface Output {
  /** Machine-readable output was asked for. */
  readonly json: boolean;
  /** A line for a person; dropped with `--json`. */
  line(text: string): void;
  /** The result: with `--json` one line of JSON, else `lines`. */
  result(value: unknown, lines: readonly string[]): void;
  /** Raw bytes of a document. */
  bytes(bytes: Uint8Array): void;
  /** Progress of long work: rewritten in place on a terminal, silent elsewhere. */
  progress(text: string): void;
  /** A warning, to standard error. */
  warn(text: string): void;
}

/** The value of a text flag. */
export function textFlag(context: CommandContext, name: string): string | undefined {
  const value = context.flags[name];
  return typeof value === 'string' ? value : undefined;
}

/** Whether a flag was given. */
export function isSet(context: CommandContext, name: string): boolean {
  return context.flags[name] === true;
}
