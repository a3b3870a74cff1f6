/**
 * Goal: a program under plain Node loads the mutants that tests load, or says that it does not.
 * Method: a child process that imports the store and one module with and without the query.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { PROOF } from '../sim/mutants/list.ts';

const WORKER = fileURLToPath(new URL('./sim-mutants-worker.ts', import.meta.url));
const run = promisify(execFile);

async function printed(...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, ['--import', 'tsx', WORKER, ...args]);
  return stdout.trim();
}

test('a program loads a mutant beside the sound store', async () => {
  expect(JSON.parse(await printed(PROOF.name))).toEqual({ apart: true, orders: ['abc', 'cba'] });
});

test('a program never gets the sound store for a mutant', async () => {
  expect(await printed('nobody')).toBe('no mutant is named "nobody"');
  expect(await printed(PROOF.name, 'unregistered')).toContain('nothing here loads mutants');
});
