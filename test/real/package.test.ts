/**
 * Goal: the package that is published holds what its manifest names and nothing that it should not.
 * Method: asks `npm pack --dry-run --json` for the list of files of the built tree, and imports
 * every entry of the built package by its public name in a fresh process.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

/** Files of `test/` that the spike reads its bucket back with, and draws from. */
const BORROWED = ['test/oracle/objects', 'test/oracle/world', 'test/support/seeded-random'];

let files: ReadonlySet<string> = new Set();

beforeAll(async () => {
  // `prepare` would build again, under the feet of tests that run the built files.
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout } = await run('npm', args, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
  const [pack]: { readonly files: readonly { readonly path: string }[] }[] = JSON.parse(stdout);
  files = new Set((pack?.files ?? []).map((file) => file.path));
});

describe('the packed files', () => {
  it('hold every target of exports and bin, and the pages', () => {
    const targets = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [target] : [target.types, target.default],
    );
    const wanted = [...targets, ...Object.values(manifest.bin)].map((path) =>
      path.replace(/^\.\//, ''),
    );
    const missing = [...wanted, 'README.md', 'CHANGELOG.md', 'LICENSE'].filter(
      (path) => !files.has(path),
    );
    expect(missing).toEqual([]);
  });

  it('hold the spike with what it takes of the tests', () => {
    const wanted = ['spike/index', ...BORROWED].map((name) => `dist/${name}.js`);
    expect(wanted.filter((path) => !files.has(path))).toEqual([]);
  });

  it('hold no test but the contract suites and what the spike takes, and no stray source', () => {
    const borrowed = BORROWED.map((name) => `dist/${name}.`);
    const isTest = (path: string): boolean => {
      if (!path.startsWith('dist/test/') || path.startsWith('dist/test/contract/')) return false;
      return !borrowed.some((start) => path.startsWith(start));
    };
    const strays = [...files].filter(
      (path) =>
        isTest(path) ||
        path.startsWith('dist/spike/drivers.') ||
        /\.test\./.test(path) ||
        (path.endsWith('.ts') && !path.endsWith('.d.ts')),
    );
    expect(strays).toEqual([]);
  });
});

describe('the built package', () => {
  const names = Object.keys(manifest.exports).filter((name) => name !== './package.json');
  it.each(names)('can be imported as %s and has exports', async (name) => {
    const specifier = join(manifest.name, name).replaceAll('\\', '/');
    const code = `const m = await import('${specifier}'); console.log(Object.keys(m).length);`;
    const args = ['--input-type=module', '--eval', code];
    const { stdout } = await run(process.execPath, args, { cwd: ROOT });
    expect(Number(stdout)).toBeGreaterThan(0);
  });

  it('does not export a default', async () => {
    const code = `console.log('default' in (await import('${manifest.name}')));`;
    const args = ['--input-type=module', '--eval', code];
    const { stdout } = await run(process.execPath, args, { cwd: ROOT });
    expect(stdout.trim()).toBe('false');
  });
});
