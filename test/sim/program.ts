/**
 * The simulation as a command: seeds one after another, what they met, and for a failure the
 * smallest plan that shows it. Everything of the machine is handed in.
 */
import { parseArgs } from 'node:util';
import { Coverage } from './coverage.ts';
import { drawPlan } from './draw-plan.ts';
import { excerpt } from './excerpt.ts';
import type { Violation } from './history.ts';
import type { Plan } from './plan.ts';
import { planLines } from './plan-words.ts';
import { replayCommand } from './replay-command.ts';
import { type RunOptions, run } from './run.ts';
import { shrink } from './shrink.ts';

export const USAGE = `usage: npm run sim -- [--seeds N] [--seed K] [--mutant NAME] [--trace]
  --seeds N      how many seeds to run, default 100
  --seed K       the first of them, default 1
  --mutant NAME  a store with one rule broken; "all": each of them, until a seed catches it;
                 "create-does-not-check": a sound store on a bucket whose creates overwrite
  --trace        print every line of the trace`;

/** The mutant that is the bucket, not the store. */
const BUCKET_MUTANT = 'create-does-not-check';

export interface ProgramParts {
  readonly argv: readonly string[];
  /** Names of the store's mutants. */
  readonly mutants: readonly string[];
  /** Prints a line. */
  readonly print: (line: string) => void;
  /** Shows how far it is, on a terminal. */
  readonly progress: (line: string) => void;
  /** ms, by a clock that never goes back. */
  readonly now: () => number;
}

interface Asked {
  readonly seeds: number;
  readonly seed: number;
  readonly mutant: string | null;
  readonly trace: boolean;
}

interface Failure {
  readonly seed: number;
  readonly violation: Violation;
}

/** @returns the exit status: 0, 1 when a rule was broken or a mutant not caught, 2 for usage */
export async function runProgram(parts: ProgramParts): Promise<number> {
  let asked: Asked;
  try {
    asked = parse(parts.argv, parts.mutants);
  } catch (error) {
    parts.print(error instanceof Error ? error.message : String(error));
    parts.print(USAGE);
    return 2;
  }
  return asked.mutant === 'all' ? runMutants(parts, asked) : runSeeds(parts, asked);
}

function parse(argv: readonly string[], mutants: readonly string[]): Asked {
  const options = {
    seeds: { type: 'string' },
    seed: { type: 'string' },
    mutant: { type: 'string' },
    trace: { type: 'boolean' },
  } as const;
  const { values } = parseArgs({ args: [...argv], options });
  const { mutant = null, trace = false } = values;
  const known = ['all', BUCKET_MUTANT, ...mutants];
  if (mutant !== null && !known.includes(mutant)) {
    throw new RangeError(`no mutant is named "${mutant}"; there are: ${known.join(', ')}`);
  }
  const seeds = integerOf('--seeds', values.seeds ?? '100', 1);
  return { seeds, seed: integerOf('--seed', values.seed ?? '1', 0), mutant, trace };
}

function integerOf(name: string, text: string, least: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= 2 ** 31) return value;
  throw new RangeError(`${name} is "${text}", expected a whole number from ${least} to 2^31`);
}

/** All seeds of the sound store; of a mutant, up to the first that catches it. */
async function runSeeds(parts: ProgramParts, asked: Asked): Promise<number> {
  const { print, progress, now } = parts;
  const total = new Coverage();
  const failures: Failure[] = [];
  const startedAt = now();
  let count = 0;
  while (count < asked.seeds && (asked.mutant === null || failures.length === 0)) {
    const seed = asked.seed + count;
    const options = optionsOf(asked.mutant);
    const tracer = asked.trace ? print : undefined;
    const { violations, coverage } = await run(drawPlan(seed), { ...options, tracer });
    total.merge(coverage);
    count += 1;
    progress(`${count} of ${asked.seeds} seeds, ${failures.length} failed`);
    const [violation] = violations;
    if (violation === undefined) continue;
    failures.push({ seed, violation });
    print(`seed ${seed} FAILED: ${violation.rule}: ${violation.detail}`);
    print(`  replay: ${replayCommand(seed, asked.mutant)}`);
  }
  const perSecond = (count / ((now() - startedAt) / 1000)).toFixed(1);
  print(total.table());
  print(`${count} seeds, ${perSecond} seeds/s, ${failures.length} failed`);
  const [first] = failures;
  if (first === undefined) return 0;
  await tell(parts, asked.mutant, first);
  return 1;
}

/** The smallest plan that breaks the same rule, and how it goes. */
async function tell(parts: ProgramParts, mutant: string | null, failure: Failure): Promise<void> {
  const { print, progress } = parts;
  const options = optionsOf(mutant);
  let runs = 0;
  const runPlan = async (plan: Plan): Promise<readonly Violation[]> => {
    runs += 1;
    progress(`shrinking, ${runs} runs`);
    return (await run(plan, options)).violations;
  };
  const plan = drawPlan(failure.seed);
  const shrunk = await shrink(plan, failure.violation.rule, runPlan);
  if (shrunk === null) {
    print(`seed ${failure.seed} does not fail again: something is not in the seed`);
    return;
  }
  const { violation } = shrunk;
  const events = shrunk.plan.events.length;
  print(`\nseed ${failure.seed}, ${events} events of ${plan.events.length} (${shrunk.runs} runs):`);
  for (const line of planLines(shrunk.plan)) print(`  ${line}`);
  print(`\n${violation.rule}: ${violation.detail}\n`);
  const lines: string[] = [];
  await run(shrunk.plan, { ...options, tracer: (line) => lines.push(line) });
  for (const line of excerpt(lines, violation)) print(`  ${line}`);
  print(`\nreplay: ${replayCommand(failure.seed, mutant)}`);
}

/** A table: which seed catches which mutant first. */
async function runMutants(
  { mutants, print, progress }: ProgramParts,
  asked: Asked,
): Promise<number> {
  const names = [BUCKET_MUTANT, ...mutants];
  const width = Math.max(...names.map((name) => name.length));
  let missed = 0;
  for (const name of names) {
    let caught: Failure | null = null;
    for (let count = 0; count < asked.seeds && caught === null; count++) {
      const seed = asked.seed + count;
      progress(`${name}: seed ${seed}`);
      const [violation] = (await run(drawPlan(seed), optionsOf(name))).violations;
      if (violation !== undefined) caught = { seed, violation };
    }
    if (caught === null) missed += 1;
    print(
      `${name.padEnd(width)}  ${caught === null ? `not caught in ${asked.seeds}` : of(caught)}`,
    );
  }
  print(`${names.length - missed} of ${names.length} mutants caught`);
  return missed === 0 ? 0 : 1;
}

function of({ seed, violation }: Failure): string {
  return `seed ${seed}: ${violation.rule}: ${violation.detail}`;
}

function optionsOf(mutant: string | null): RunOptions {
  return mutant === BUCKET_MUTANT ? { createDoesNotCheck: true } : { mutant };
}
