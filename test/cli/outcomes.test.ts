/**
 * Goal: every failure of a command that asks for changes begins with what became of them, and says
 * nothing that is not so: `init` of the world, `import` of each of its files. Method: buckets that
 * refuse, lose answers or never give them, and interrupts at the moments that matter.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemoryBucket } from '../../blob/memory.ts';
import { StoreError } from '../../bucketstore/index.ts';
import { LOG_PREFIX, MARKER_KEY } from '../../bucketstore/log/names.ts';
import { type FaultyBucket, type Rule, withFaults } from '../support/faulty-bucket.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { withStalls } from '../support/stalling-bucket.ts';
import { commandRunner, type Run, type RunOptions } from './run-command.ts';

const { runCommand } = commandRunner();
const ID = '00000000-0000-4000-8000-000000000001';
const FILES = 40;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bucketstore-outcomes-'));
  for (let i = 0; i < FILES; i++) await writeFile(join(folder, `${i}.md`), `# ${i}\n`);
});
afterAll(() => rm(folder, { recursive: true }));

const isSlot = (key: string): boolean => key.startsWith(LOG_PREFIX);
const isMarker = (key: string): boolean => key === MARKER_KEY;
const importInto = (location: string): string[] => ['import', folder, '--to', location, '--json'];

interface Answer {
  readonly error: {
    readonly code: string;
    readonly outcome: string | null;
    readonly message: string;
  };
}

/** The error that a run with `--json` has told last. */
function errorOf({ err }: Run): Answer['error'] {
  const last = err.trimEnd().split('\n').at(-1) ?? '';
  return (JSON.parse(last) as Answer).error;
}

interface Bench {
  readonly faulty: FaultyBucket;
  run(argv: readonly string[], options?: RunOptions): Promise<Run>;
}

/** Runs on one bucket, with a clock that moves as soon as everybody waits. */
function bench(...rules: readonly Rule[]): Bench {
  const clock = new ManualClock();
  const faulty = withFaults(createMemoryBucket({ timing: clock }), [...rules], { timing: clock });
  const components = { clock, bucket: faulty.store };
  return {
    faulty,
    run: (argv, options) => turning(clock, runCommand(argv, { components, ...options })),
  };
}

/** `work`, which reads files and sleeps on a clock: turns of the one between steps of the other. */
async function turning<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  let ended = false;
  const end = (): void => {
    ended = true;
  };
  work.then(end, end);
  while (!ended) {
    for (let reads = 0; reads < 4 && !ended; reads++) await readFile(join(folder, '0.md'));
    if (!ended) await clock.fireNext();
  }
  return work;
}

/** An interrupt, and a rule of no consequence that gives it at the call that it matches. */
function interruptAt(rule: Omit<Rule, 'fault'>): { rule: Rule; signal: AbortSignal } {
  const interrupted = new AbortController();
  const when = (): boolean => {
    interrupted.abort(new StoreError('INTERRUPTED', 'interrupted'));
    return true;
  };
  return { rule: { ...rule, fault: { kind: 'delay' }, when }, signal: interrupted.signal };
}

describe('a refused command', () => {
  it.each([
    ['init', ['init', 'memory:outcome', '--world-id', ID]],
    ['init, wrongly used', ['init', 'memory:outcome', '--world-id', 'x']],
    ['import without its folder', ['import', 'no-such-folder', '--to', 'memory:outcome']],
    ['import, wrongly used', ['import']],
  ])('begins with "not committed": %s', async (_, argv) => {
    await runCommand(['init', 'memory:outcome']);
    const run = await runCommand(argv);
    expect(run.exit).toBeGreaterThan(0);
    expect(run.err).toMatch(/^bucketstore: not committed: [^\n]*\n$/);
  });
});

describe('init', () => {
  it('says "unknown" of a world whose create has no answer when it is interrupted', async () => {
    const clock = new ManualClock();
    const stalling = withStalls(createMemoryBucket({ timing: clock }));
    const interrupted = new AbortController();
    const key = (name: string): boolean => {
      if (name !== MARKER_KEY) return false;
      interrupted.abort(new StoreError('INTERRUPTED', 'interrupted'));
      return true;
    };
    stalling.stall({ mode: 'never-answers', key });
    const options = {
      components: { clock, bucket: stalling.store },
      signal: interrupted.signal,
    };
    const run = await runCommand(['init', 'memory:', '--json'], options);
    expect(run).toMatchObject({ exit: 4, out: '' });
    expect(errorOf(run)).toMatchObject({ code: 'UNKNOWN_OUTCOME', outcome: 'unknown' });
    expect(errorOf(run).message).toMatch(/^unknown: /);
    // It lands later, as it was told that it might.
    await stalling.release();
    const again = await runCommand(['init', 'memory:'], { components: options.components });
    expect(again.out).toContain('is there already');
  });

  it('says "unknown" when every create of the marker fails and may land', async () => {
    const { run } = bench({
      operation: 'create',
      key: isMarker,
      fault: { kind: 'fail', code: 'unavailable' },
      times: 1e6,
    });
    const ended = await run(['init', 'memory:']);
    expect(ended).toMatchObject({ exit: 4, out: '' });
    expect(ended.err).toMatch(/^bucketstore: unknown: /);
  });

  it('says "not committed" when interrupted before the create, or that is refused', async () => {
    const { rule, signal } = interruptAt({ operation: 'list' });
    const early = await bench(rule).run(['init', 'memory:'], { signal });
    expect(early).toMatchObject({ exit: 130 });
    expect(early.err).toMatch(/^bucketstore: not committed: interrupted/);
    const refused: Rule = {
      operation: 'create',
      key: isMarker,
      fault: { kind: 'fail', code: 'forbidden' },
    };
    const run = await bench(refused).run(['init', 'memory:']);
    expect(run).toMatchObject({ exit: 5 });
    expect(run.err).toMatch(/^bucketstore: not committed: /);
  });

  it('does not say "not committed" of a world that it has made', async () => {
    const failed: Rule = {
      operation: 'list',
      key: isSlot,
      skip: 1,
      fault: { kind: 'fail', code: 'forbidden' },
      times: 1e6,
    };
    const { run, faulty } = bench(failed);
    const ended = await run(['init', 'memory:']);
    expect(faulty.hits()[0]).toBeGreaterThan(0);
    expect(ended).toMatchObject({ exit: 5 });
    expect(ended.err).toMatch(/^bucketstore: the world is made: /);
  });
});

describe('import', () => {
  it('says how much is committed when it is interrupted, and that the rest is not', async () => {
    const { rule, signal } = interruptAt({ operation: 'create', key: isSlot });
    const { run } = bench(rule);
    const ended = await run(importInto('memory:'), { signal });
    expect(ended.exit).toBe(130);
    const result = JSON.parse(ended.out) as { imported: number; complete: boolean };
    expect(result).toMatchObject({ complete: false, unknown: 0 });
    expect(result.imported).toBeGreaterThan(0);
    expect(errorOf(ended)).toMatchObject({ code: 'INTERRUPTED', outcome: null });
    const words = `committed ${result.imported} file`;
    expect(errorOf(ended).message.startsWith(words)).toBe(true);
    expect(errorOf(ended).message).toContain('not committed the rest: interrupted');
    const log = await run(['log', 'memory:', '--json']);
    expect(log.out.split('\n').slice(0, -1)).toHaveLength(result.imported);
    // And it goes on from there.
    const rest = JSON.parse((await run(importInto('memory:'))).out);
    expect(rest).toMatchObject({ imported: FILES - result.imported, unchanged: result.imported });
  });

  it('says "not committed" when it is interrupted before anything is sent', async () => {
    const { rule, signal } = interruptAt({ operation: 'get', key: isMarker });
    const ended = await bench(rule).run(importInto('memory:'), { signal });
    expect(ended).toMatchObject({ exit: 130, out: '' });
    expect(errorOf(ended)).toMatchObject({ code: 'INTERRUPTED', outcome: 'not committed' });
  });

  it('counts what is unknown apart, and names it', async () => {
    const { run } = bench({
      operation: 'create',
      key: isSlot,
      skip: 1,
      fault: { kind: 'fail', code: 'timeout' },
      times: 1e6,
    });
    const ended = await run(importInto('memory:'));
    expect(ended.exit).toBe(4);
    const result = JSON.parse(ended.out) as {
      imported: number;
      unknown: number;
      unknownFiles: readonly { readonly file: string }[];
    };
    expect(result.imported).toBeGreaterThan(0);
    expect(result.unknown).toBeGreaterThan(0);
    expect(result.unknownFiles).toHaveLength(result.unknown);
    for (const { file } of result.unknownFiles) expect(ended.err).toContain(`unknown ${file}: `);
    const { message, outcome } = errorOf(ended);
    expect(outcome).toBe('unknown');
    expect(message).toMatch(new RegExp(`^unknown ${result.unknown} files?, committed `));
  });
});
