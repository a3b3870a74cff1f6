/**
 * Goal: nothing that somebody wrote into a world, a folder or a command line acts on the terminal
 * of the one who looks, and an argument whose bytes are lost is refused. Method: texts that clear
 * screens, set titles and ring, wherever the program prints what is not its own.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { visible } from '../../bucketstore/cli/visible.ts';
import { commandRunner } from './run-command.ts';

const { runCommand, runJson } = commandRunner();

/** Clears the screen, sets the title, rings: C0, C1 and DEL. */
const HOSTILE = '\u001b[2J\u001b]0;x\u0007\u009b31m\u007f';
const SHOWN = '\\x1b[2J\\x1b]0;x\\x07\\x9b31m\\x7f';

/** Everything but what a person sees, TAB and the end of a line. */
const ACTING = /[^\P{Cc}\t\n]/u;

describe('what the program prints', () => {
  it('shows the control characters of metadata instead of sending them', async () => {
    const location = 'memory:terminal-metadata';
    await runCommand(['init', location]);
    await runCommand(['put', location, '/a.md', '--meta', `title=${HOSTILE}`], { input: 'a' });
    const { out } = await runCommand(['stat', location, '/a.md']);
    expect(out).toContain(`  title: ${SHOWN}\n`);
    expect(out).not.toMatch(ACTING);
    // A program gets the value itself.
    expect(await runJson(['stat', location, '/a.md'])).toMatchObject({
      metadata: { title: HOSTILE },
    });
  });

  it('shows those of paths, in every command that names one', async () => {
    const location = 'memory:terminal-paths';
    const path = '/\u009b31m.md';
    await runCommand(['init', location]);
    const runs = [
      await runCommand(['put', location, path], { input: 'a' }),
      await runCommand(['append', location, path], { input: 'b' }),
      await runCommand(['put', location, path, '--expected', '9'], { input: 'c' }),
      await runCommand(['ls', location]),
      await runCommand(['stat', location, path]),
      await runCommand(['log', location]),
      await runCommand(['versions', location, `${path}.none`]),
      await runCommand(['archive', location, path]),
      await runCommand(['get', location, path]),
      await runCommand(['verify', location]),
      await runCommand([`no${HOSTILE}`]),
      await runCommand(['ls', location, '--limit', HOSTILE]),
    ];
    for (const { out, err } of runs) expect(out + err).not.toMatch(ACTING);
    const told = runs.map(({ out, err }) => out + err);
    expect(told.filter((text) => text.includes('/\\x9b31m.md')).length).toBeGreaterThan(6);
  });

  it('shows those of the files that an import names, one line for each', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'bucketstore-terminal-'));
    try {
      await writeFile(join(directory, '\u001b[2J\n.md'), 'a');
      await writeFile(join(directory, 'b.md'), '---\n"\u001b[2Jkey": x\n---\n');
      const run = await runCommand(['import', directory, '--to', 'memory:terminal-import']);
      expect(run.err).toContain('skipped \\x1b[2J\\x0a.md: ');
      expect(run.err.trimEnd().split('\n')).toHaveLength(2);
      expect(run.out + run.err).not.toMatch(ACTING);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('gives the bytes of a document as they are', async () => {
    const location = 'memory:terminal-bytes';
    await runCommand(['init', location]);
    await runCommand(['put', location, '/a.md'], { input: HOSTILE });
    expect((await runCommand(['get', location, '/a.md'])).out).toBe(HOSTILE);
  });
});

describe('`visible()`', () => {
  it('leaves text as it is, whatever its script, TAB included', () => {
    const text = 'a\tb\\x1b é 日本語 עברית العربية 👩‍👩‍👧 \u00a0\ufeff\u202egpj';
    expect(visible(text)).toBe(text);
  });

  it('leaves nothing that a terminal acts on, of any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(visible(text)).not.toMatch(/[^\P{Cc}\t]/u);
        expect(visible(visible(text))).toBe(visible(text));
      }),
    );
  });
});

describe('an argument', () => {
  it.each([
    [['get', 'memory:encoding', '/caf\ufffd.md']],
    [['put', 'memory:encoding', '/a.md', '--meta', 'title=caf\ufffd']],
    [['import', 'docs', '--to', 'memory:encoding', '--under', '/caf\ufffd']],
    [['init', 'file:caf\ufffd']],
  ])('that was not UTF-8 is refused: %j', async (argv) => {
    const run = await runCommand(argv, { input: 'x' });
    expect(run).toMatchObject({ exit: 2, out: '' });
    expect(run.err).toMatch(/is not UTF-8.*\[USAGE\]\n$/);
  });
});

describe('INVALID_META', () => {
  it.each([
    ['version=1', 'version'],
    ['Größe=1', 'Größe'],
    ['retention=soon', 'retention'],
  ])('of --meta %s names its key', async (pair, key) => {
    await runCommand(['init', 'memory:terminal-keys']);
    const argv = ['put', 'memory:terminal-keys', '/a.md', '--meta', pair];
    const run = await runCommand(argv, { input: 'a' });
    expect(run.exit).toBe(1);
    expect(run.err).toContain(`not committed: metadata key "${key}": `);
    expect(run.err.split('metadata key'), 'and says so once').toHaveLength(2);
    expect(run.err).toContain('[INVALID_META]');
  });
});
