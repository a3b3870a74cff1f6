/** Shows and checks the commands of the tour. */
import { StoreError } from '../base/errors.ts';
import type { CommandContext } from './command.ts';

/** What is missing in a command's output, or null. */
export type Check = (output: string) => string | null;

export class Guide {
  readonly #context: CommandContext;
  #steps = 0;

  constructor(context: CommandContext) {
    this.#context = context;
  }

  get steps(): number {
    return this.#steps;
  }

  say(...lines: readonly string[]): void {
    const single = lines.flatMap((line) => line.split('\n'));
    for (const line of single) this.#context.output.line(line);
  }

  /** The next step, in words. */
  step(...lines: readonly string[]): void {
    this.#context.signal.throwIfAborted();
    this.#steps++;
    const [first = '', ...rest] = lines;
    this.say('', `${this.#steps}. ${first}`, ...rest.map((line) => `   ${line}`), '');
  }

  /**
   * Runs a command, shows it with what it says, and checks both.
   * @param head lines to show; all by default
   * @throws StoreError `INTEGRITY` when it did not go as told
   */
  async run(argv: readonly string[], exit: number, check: Check, head?: number): Promise<string> {
    const pipe = head === undefined ? '' : ` | head -${head}`;
    this.say(`$ bucketstore ${argv.map(quoted).join(' ')}${pipe}`);
    let output = '';
    const status = await this.#context.runOther(argv, (text) => {
      output += text;
    });
    const lines = output.replace(/\n$/, '').split('\n');
    this.say(...(head === undefined ? lines : lines.slice(0, head)));
    this.#context.signal.throwIfAborted();
    const problem = status === exit ? check(output) : `exit status ${status}, expected ${exit}`;
    if (problem === null) return output;
    throw new StoreError('INTEGRITY', `the tour did not go as told: ${argv[0]}: ${problem}`);
  }
}

/** Output that holds a text. */
export function has(text: string): Check {
  return (output) => (output.includes(text) ? null : `"${text}" is not in what it says`);
}

function quoted(argument: string): string {
  if (/^[A-Za-z0-9_./:=@%+,-]+$/.test(argument)) return argument;
  return `'${argument.replaceAll("'", "'\\''")}'`;
}
