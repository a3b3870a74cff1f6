// Goal: processes share a directory as they would a bucket, and one that is killed anywhere harms
// nobody. Method: eight processes race for the same names, or replace the same object; processes
// stop at each step of a create and are killed there with SIGKILL, while the bucket stays in use.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { createFileBucket } from '../../blob/file.ts';
import { systemClock } from '../../bucketstore/base/clock.ts';
import { systemRandom } from '../../bucketstore/base/random.ts';
import {
  assertBytes,
  bytesOf,
  listKeys,
  mustCreate,
  patternOf,
  readBytes,
} from '../contract/blob-case.ts';
import { temporaryDirectories } from '../support/file-buckets.ts';

const PROCESSES = 8;
const NAMES = 200;
const STEPS = [
  'before the temporary file',
  'between write and sync',
  'between sync and link',
  'after link',
] as const;
const WORKER = fileURLToPath(new URL('./file-worker.ts', import.meta.url));

const directories = await temporaryDirectories();
afterAll(directories.remove);

function start(...args: readonly string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', WORKER, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = once(child, 'exit');
  return {
    go: () => void child.stdin.end('go\n'),
    kill: async () => {
      child.kill('SIGKILL');
      const [, signal] = await exited;
      assert.equal(signal, 'SIGKILL');
    },
    /** The next line of its output. */
    line: async (): Promise<unknown> => {
      const { value, done } = await lines.next();
      assert.ok(!done, `${args.join(' ')} printed nothing`);
      return JSON.parse(value);
    },
    done: async () => {
      const [code] = await exited;
      assert.equal(code, 0, args.join(' '));
    },
  };
}

async function runAll(command: string, directory: string, count: number) {
  const children = Array.from({ length: PROCESSES }, (_, i) =>
    start(command, directory, String(i), String(count)),
  );
  for (const child of children) expect(await child.line()).toBe('ready');
  for (const child of children) child.go();
  const answers = await Promise.all(children.map((child) => child.line()));
  await Promise.all(children.map((child) => child.done()));
  return answers as readonly (readonly string[])[];
}

function open(directory: string) {
  return createFileBucket({ directory, timing: systemClock, chance: systemRandom });
}

test(`${PROCESSES} processes racing for ${NAMES} names: one winner each, its bytes`, async () => {
  const directory = await directories.fresh();
  const won = await runAll('race', directory, NAMES);
  const store = open(directory);
  const names = Array.from({ length: NAMES }, (_, i) => `race/${i}`);
  for (const key of names) {
    const winners = won.flatMap((keys, i) => (keys.includes(key) ? [i] : []));
    expect(winners, key).toHaveLength(1);
    const stored = new TextDecoder().decode(await readBytes(store, key));
    const winner = winners[0] ?? -1;
    expect(stored).toBe(`${key} by ${winner} ${'x'.repeat(winner * 100)}`);
  }
  const keys = await listKeys(store, { prefix: '', limit: 1000 });
  expect([...keys].sort()).toEqual([...names].sort());
  expect(await readdir(join(directory, '.bucketstore-tmp'))).toEqual([]);
  console.info(`names won by process: ${won.map((keys) => keys.length).join(' ')}`);
  expect(won.filter((keys) => keys.length > 0).length).toBeGreaterThan(1);
});

test(`${PROCESSES} processes replacing one object never replace one generation twice`, async () => {
  const directory = await directories.fresh();
  const store = open(directory);
  await mustCreate(store, 'head.json', bytesOf('start'));
  const replaced = (await runAll('replace', directory, 25)).flat();
  expect(new Set(replaced).size).toBe(replaced.length);
  const { generation } = await store.head('head.json').then((result) => {
    assert.ok(result.found);
    return result.attributes;
  });
  expect(generation.endsWith(`.${replaced.length}`)).toBe(true);
  console.info(`replaced ${replaced.length} times in ${PROCESSES * 25} attempts`);
  expect(replaced.length).toBeGreaterThanOrEqual(25);
});

test('a process killed at any step of a create leaves nothing half and nothing over', async () => {
  const bytes = patternOf(200_000, 9);
  const hits = new Map<string, number>();
  for (const step of STEPS) {
    for (let round = 0; round < 2; round++) {
      const directory = await directories.fresh();
      const beside = open(directory);
      await mustCreate(beside, 'dir/other', bytesOf('beside'));
      const child = start('die', directory, step);
      expect(await child.line()).toBe(`at ${step}`);
      const temps = join(directory, '.bucketstore-tmp');
      const left = await readdir(temps);
      expect(left.length, step).toBe(step === STEPS[0] ? 0 : 1);
      // While it lives, whoever opens leaves its file alone.
      await open(directory).head('dir/victim');
      expect(await readdir(temps)).toEqual(left);
      await child.kill();
      hits.set(step, (hits.get(step) ?? 0) + 1);

      const created = step === 'after link';
      for (const store of [beside, open(directory)]) {
        const read = await store.get('dir/victim');
        expect(read.found, step).toBe(created);
        if (read.found) assertBytes(read.bytes, bytes, step);
        const expected = created ? ['dir/other', 'dir/victim'] : ['dir/other'];
        expect(await listKeys(store, { prefix: '', limit: 10 })).toEqual(expected);
      }
      expect(await readdir(temps), `after the next open, ${step}`).toEqual([]);
      const again = await beside.create('dir/victim', bytes);
      expect(again.outcome).toBe(created ? 'exists' : 'created');
    }
  }
  for (const [step, count] of hits) console.info(`killed ${step}: ${count} times`);
  expect([...hits.values()]).toEqual(STEPS.map(() => 2));
});
