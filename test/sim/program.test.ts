/**
 * Goal: the command says what is wrong with its arguments, and tells a failure so that somebody can
 * work on it.
 * Method: the program without a process; few seeds; a bucket whose creates overwrite.
 */
import { describe, expect, test } from 'vitest';
import { excerpt } from './excerpt.ts';
import { runProgram, USAGE } from './program.ts';

async function program(argv: string): Promise<{ readonly status: number; readonly text: string }> {
  const lines: string[] = [];
  let clock = 0;
  const status = await runProgram({
    argv: argv.split(' ').filter((word) => word !== ''),
    mutants: ['of-the-store'],
    print: (line) => lines.push(line),
    progress: () => undefined,
    now: () => (clock += 500),
  });
  return { status, text: lines.join('\n') };
}

describe('arguments', () => {
  test.each([
    ['--seeds 0', '--seeds is "0", expected a whole number from 1 to 2^31'],
    ['--seed 1.5', '--seed is "1.5"'],
    ['--seed', "Option '--seed <value>' argument missing"],
    ['--sedes 3', "Unknown option '--sedes'"],
    ['seven', "Unexpected argument 'seven'"],
    ['--mutant nobody', 'no mutant is named "nobody"; there are: all, create-does-not-check, of-'],
  ])('%s is refused', async (argv, problem) => {
    const { status, text } = await program(argv);
    expect(status).toBe(2);
    expect(text).toContain(problem);
    expect(text).toContain(USAGE);
  });
});

test('seeds that keep every rule are told by number, speed and what they met', async () => {
  const { status, text } = await program('--seeds 2 --seed 5');
  expect(status).toBe(0);
  expect(text).toContain('2 seeds, 4.0 seeds/s, 0 failed');
  expect(text).toMatch(/^ *\d+ {2}lost slot$/m);
});

test('a failure is told with its replay, its smallest plan and that plan’s trace', async () => {
  const { status, text } = await program('--seed 2 --mutant create-does-not-check');
  expect(status).toBe(1);
  expect(text).toMatch(/^seed 2 FAILED: I1: _demarkus\S+ was created again$/m);
  expect(text).toContain('npm run sim -- --seeds 1 --seed 2 --mutant create-does-not-check');
  expect(text).toMatch(/^seed 2, \d events of \d{3} \(\d+ runs\):$/m);
  expect(text).toMatch(/^ +\d+ s\d\.\d create _demarkus\S+\.slot created/m);
});

test('`--trace` prints the trace', async () => {
  const { text } = await program('--seeds 1 --seed 9 --trace');
  expect(text).toMatch(/^\d+ s0\.0 open at \d+, rests on \d+$/m);
});

test('a long trace is cut to what the violation names', () => {
  const lines = Array.from({ length: 1000 }, (_, at) => `${at} s0.0 head log/${at} absent`);
  lines.push('1000 s0.0 answers /a.md@2#5', '1001 s1.0 crash at sleep');
  const kept = excerpt(lines, { rule: 'I3', detail: 's0.0: /a.md is at 1' });
  expect(kept).toEqual(['… 1000 of 1002 lines left out', ...lines.slice(-2)]);
  expect(excerpt(lines.slice(0, 9), { rule: 'I3', detail: '/a.md' })).toEqual(lines.slice(0, 9));
});
