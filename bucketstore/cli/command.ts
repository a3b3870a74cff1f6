/** What a command is, and what it is run with. */
import { type Clock, systemClock } from '../base/clock.ts';
import { StoreError } from '../base/errors.ts';
import type { Components } from '../options.ts';

/** A flag of a command, as `util.parseArgs` takes it, and what help says of it. */
export interface Flag {
  readonly type: 'boolean' | 'string';
  readonly help: string;
  /** Placeholder of its value in help. */
  readonly value?: string;
  /** May be given more than once. */
  readonly multiple?: true;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Arguments behind the name, as help shows them. */
  readonly usage: string;
  readonly flags: Readonly<Record<string, Flag>>;
  readonly examples: readonly string[];
  /** More that help says, by line. */
  readonly notes?: readonly string[];
  /** It asks for a change: its errors begin with what became of that. */
  readonly writes?: true;
  /** Resolves with the exit status; failures are thrown. */
  run(context: CommandContext): Promise<number>;
}

export type FlagValue = string | boolean | readonly string[] | undefined;

export interface CommandContext {
  readonly positionals: readonly string[];
  readonly flags: Readonly<Record<string, FlagValue>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly output: Output;
  /** Aborts on Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  /** All of standard input. */
  readonly readInput: () => Promise<Uint8Array>;
  /** Handed to every world that is opened; for tests. */
  readonly components: Partial<Components>;
  /** Runs another command line as the program would, all that it says to `write`. */
  readonly runOther: (argv: readonly string[], write: (text: string) => void) => Promise<number>;
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

/** The values of a flag that may be repeated, in order. */
export function listFlag(context: CommandContext, name: string): readonly string[] {
  const value = context.flags[name];
  return Array.isArray(value) ? value : [];
}

/** The whole number that a flag gives. @throws StoreError `USAGE` for anything below `min` */
export function numberFlag(context: CommandContext, name: string, min: number): number | undefined {
  const text = textFlag(context, name);
  if (text === undefined) return undefined;
  const number = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number) && number >= min) return number;
  throw new StoreError('USAGE', `--${name} is a whole number of ${min} or more, got "${text}"`);
}

/** Whether a flag was given. */
export function isSet(context: CommandContext, name: string): boolean {
  return context.flags[name] === true;
}

export function clockOf(context: CommandContext): Clock {
  return context.components.clock ?? systemClock;
}
