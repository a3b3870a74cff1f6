// A process of `file-processes.test.ts` and `file-locations.test.ts`: one command on one directory.
//   race DIRECTORY ID COUNT     creates `race/0` …, eight at a time; prints the names it won
//   die DIRECTORY STEP          creates `victim` and stops for ever at STEP, after printing `at
//   STEP` replace DIRECTORY ID ROUNDS replaces `head.json` as often; prints each generation it
//   replaced try DIRECTORY               one create and one get; prints the code, ambiguity and
//   message of each

import { once } from 'node:events';
import { isBlobError } from '../../blob/errors.ts';
import { createFileBucket } from '../../blob/file.ts';
import { type FileSystem, nodeFileSystem } from '../../blob/file-system.ts';
import { systemClock } from '../../bucketstore/base/clock.ts';
import { systemRandom } from '../../bucketstore/base/random.ts';
import { attributesOf, bytesOf, eachOf, patternOf } from '../contract/blob-case.ts';
import { type FileCall, hookedFileSystem } from '../support/faulty-file-system.ts';

const [command = '', directory = '', id = '', number = '0'] = process.argv.slice(2);

function bucket(fs: FileSystem = nodeFileSystem) {
  return createFileBucket({ directory, timing: systemClock, chance: systemRandom, fs });
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** The bytes a process offers for a name: nobody else's. */
function offerOf(key: string, creator: string): Uint8Array {
  return bytesOf(`${key} by ${creator} ${'x'.repeat(Number(creator) * 100)}`);
}

/** Waits until all processes are up, so that they race. */
async function ready(): Promise<void> {
  print('ready');
  await once(process.stdin, 'data');
  process.stdin.destroy();
}

async function race(): Promise<void> {
  const store = bucket();
  await ready();
  const count = Number(number);
  const names = Array.from({ length: count }, (_, i) => `race/${i}`);
  const won: string[] = [];
  await eachOf(names, 8, async (key) => {
    const { outcome } = await store.create(key, offerOf(key, id));
    if (outcome === 'created') won.push(key);
  });
  print(won);
}

async function die(): Promise<void> {
  const stop = async (): Promise<void> => {
    print(`at ${id}`);
    process.stdin.resume();
    await new Promise(() => {});
  };
  const isStep: Record<string, (call: FileCall) => boolean> = {
    'before the temporary file': ({ name }) => name === 'openNew',
    'between write and sync': ({ name }) => name === 'file.sync',
    'between sync and link': ({ name, path }) => name === 'link' && path.endsWith('/victim'),
    'after link': ({ name, path }) => name === 'unlink' && path.includes('/new~'),
  };
  const fs = hookedFileSystem(nodeFileSystem, {
    before: (call) => (isStep[id]?.(call) ? stop() : undefined),
  });
  await bucket(fs).create('dir/victim', patternOf(200_000, 9));
}

async function replace(): Promise<void> {
  const store = bucket();
  await ready();
  const replaced: string[] = [];
  for (let round = 0; round < Number(number); round++) {
    const { generation } = await attributesOf(store, 'head.json');
    const result = await store.replace('head.json', generation, bytesOf(`${id}/${round}`));
    if (result.outcome === 'replaced') replaced.push(generation);
  }
  print(replaced);
}

async function tryCalls(): Promise<void> {
  const store = bucket();
  const outcomes = [
    store.create('log/1', patternOf(4_000_000, 1)).then(({ outcome }) => outcome),
    store.get('kept').then(({ found }) => found),
    store.list({ prefix: '', limit: 10 }).then(({ objects }) => objects.map(({ key }) => key)),
  ];
  for (const outcome of await Promise.allSettled(outcomes)) {
    if (outcome.status === 'fulfilled') print(outcome.value);
    else if (isBlobError(outcome.reason)) {
      const { code, retryable, ambiguous, message } = outcome.reason;
      print({ code, retryable, ambiguous, message });
    } else print(String(outcome.reason));
  }
}

const COMMANDS: Record<string, () => Promise<void>> = { race, die, replace, try: tryCalls };
await COMMANDS[command]?.();
