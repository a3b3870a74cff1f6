/**
 * Goal: the example of the README runs as it stands and prints what the text says. Method: takes
 * the code out of the page and runs it on the sources, in the place of the built package.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commands } from '../bucketstore/cli/commands.ts';
import * as bucketstore from '../bucketstore/index.ts';

const README = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');
const IMPORT = /^import \{([^}]*)\} from 'bucketstore';\n/;

type Run = (names: typeof bucketstore, output: { log(...words: unknown[]): void }) => Promise<void>;
const AsyncFunction = (async () => undefined).constructor as new (...source: string[]) => Run;

it('the example runs as it stands', async () => {
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(README) ?? [];
  const [line = '', names = ''] = IMPORT.exec(code) ?? [];
  const body = code.slice(line.length);
  expect(body).not.toContain('import');
  const printed: string[] = [];
  const run = new AsyncFunction('names', 'console', `const {${names}} = names;\n${body}`);
  await run(bucketstore, { log: (...words) => printed.push(words.join(' ')) });
  expect(printed).toEqual(['1 # Hello\n', 'CONFLICT not committed 2', '2 write', '3 write']);
  expect(code.split('\n').filter((text) => text !== '').length).toBeLessThanOrEqual(16);
});

it('the page and the page of the program name every command', () => {
  const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'cli.md'), 'utf8');
  const [list = ''] = /`init [a-z ]+`/.exec(README) ?? [];
  expect(list.slice(1, -1).split(' ').sort()).toEqual(commands.map(({ name }) => name).sort());
  for (const { name } of commands) expect(page).toMatch(new RegExp(`\\| \`.*\\b${name}\\b`));
});

it('the page of the program has every code under its exit status', () => {
  const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'cli.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (\d+) \| (.*?) \|/gm)];
  for (const [, status, codes = ''] of rows) {
    for (const [, code = ''] of codes.matchAll(/`([A-Z_]+)`/g)) {
      const facts = bucketstore.ERROR_CODES[code as bucketstore.StoreErrorCode];
      expect(facts.exit, code).toBe(Number(status));
    }
  }
  expect(rows.map(([, status]) => Number(status))).toEqual([0, 1, 1, 2, 3, 4, 5, 6, 7, 130]);
});
