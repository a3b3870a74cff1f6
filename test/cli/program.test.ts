/**
 * Goal: whoever misuses the program is told how to use it, and every command explains itself.
 * Method: runs command lines in this process; what commands there are is read from their list.
 */
import { describe, expect, it } from 'vitest';
import { commands } from '../../bucketstore/cli/commands.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { commandRunner } from './run-command.ts';

const { runCommand, runJson } = commandRunner();

describe('help', () => {
  it('names every command', async () => {
    const { out, exit } = await runCommand(['--help']);
    expect(exit).toBe(0);
    for (const { name, summary } of commands) {
      expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
      expect(out).toContain(summary);
    }
    expect(out.split('\n').filter((line) => line.length > 110)).toEqual([]);
  });

  it.each(commands.map(({ name }) => name))(
    'of %s shows usage, flags and examples',
    async (name) => {
      const { out, exit } = await runCommand([name, '--help']);
      const command = commands.find((one) => one.name === name);
      expect(exit).toBe(0);
      expect(out).toContain(`Usage: bucketstore ${name} ${command?.usage}`);
      for (const flag of [...Object.keys(command?.flags ?? {}), 'json', 'help']) {
        expect(out).toContain(`--${flag}`);
      }
      expect(command?.examples.length).toBeGreaterThan(0);
      expect((await runCommand(['help', name])).out).toBe(out);
      expect(out.split('\n').filter((line) => line.length > 120)).toEqual([]);
    },
  );

  it('is what an empty command line gets, with status 2', async () => {
    const { out, exit } = await runCommand([]);
    expect(exit).toBe(2);
    expect(out).toContain('Usage: bucketstore');
  });
});

describe('wrong usage', () => {
  it.each([
    [['nothing']],
    [['ls']],
    [['ls', 'nowhere']],
    [['ls', 'memory:usage', '/a', '/b']],
    [['ls', 'memory:usage', '--limit', '0']],
    [['ls', 'memory:usage', '--limit', 'all']],
    [['ls', 'memory:usage', '--nonsense']],
    [['get', 'memory:usage']],
    [['get', 'memory:usage', '/a.md', '--version', '-1']],
    [['put', 'memory:usage', '/a.md', '--expected', 'soon']],
    [['put', 'memory:usage', '/a.md', '--meta', 'novalue']],
    [['put', 'memory:usage', '/a.md', '--op', 'abc']],
    [['import', 'docs']],
    [['import']],
    [['import', 'docs', 'more', '--to', 'memory:usage']],
    [['import', 'docs', '--to', 'memory:usage', '--under', '/a/../b']],
    [['verify', 'memory:usage', 'more']],
    [['doctor', 'memory:usage', 'more']],
  ])('of %j ends with 2 and one line', async (argv) => {
    const run = await runCommand(argv);
    expect(run).toMatchObject({ exit: 2, out: '' });
    expect(run.err).toMatch(/^bucketstore: [^\n]* \[USAGE\]\n$/);
  });

  it('is told as JSON where JSON was asked for', async () => {
    const answer = await runJson<{ error: unknown }>(['get', 'memory:usage']);
    expect(answer.error).toMatchObject({ code: 'USAGE' });
  });
});

describe('the location', () => {
  it('may stand in --location or the environment', async () => {
    const location = 'memory:stand-in';
    await runCommand(['init', location]);
    const env = { BUCKETSTORE_LOCATION: location };
    expect(await runCommand(['put', '/a.md'], { env, input: 'a' })).toMatchObject({ exit: 0 });
    expect((await runCommand(['ls', '--location', location])).out).toBe('/a.md\n');
    expect((await runCommand(['get', location, '/a.md'], { env })).out).toBe('a');
  });

  it('without a world is not found: 3, whatever is asked of it', async () => {
    for (const argv of [['ls'], ['stat'], ['log'], ['verify'], ['get', '/a.md']]) {
      const [name = '', ...rest] = argv;
      const run = await runCommand([name, 'memory:empty', ...rest]);
      expect(run).toMatchObject({ exit: 3, out: '' });
    }
  });
});

describe('doctor', () => {
  it('finds a location fit, and the world that is there', async () => {
    const location = 'memory:doctor';
    expect(await runJson(['doctor', location])).toMatchObject({ world: null });
    const { worldId } = await runJson<{ worldId: string }>(['init', location]);
    await runCommand(['put', location, '/a.md'], { input: 'a' });
    const report = await runJson(['doctor', location]);
    expect(report).toMatchObject({ world: { worldId, slots: 1, aheadMs: 0 } });
  });

  it.each([
    [59_000, 0],
    [61_000, 61_000],
  ])('tells of a log that is %i ms ahead of the clock: %i', async (ahead, told) => {
    const location = `memory:doctor-ahead-${ahead}`;
    const late = new ManualClock({ wallMs: 1_700_000_000_000 + ahead });
    await runCommand(['init', location]);
    await runCommand(['put', location, '/a.md'], { input: 'a', components: { clock: late } });
    expect(await runJson(['doctor', location])).toMatchObject({ world: { aheadMs: told } });
    const { out } = await runCommand(['doctor', location]);
    expect(out.includes("ahead of this machine's clock")).toBe(told > 0);
  });
});
