/**
 * Goal: an import that is killed loses nothing that it has acknowledged, and leaves a world in
 * which all is right and on which the same import goes on. Method: a process imports a folder into
 * a directory, telling each acknowledged file at once, and kills itself at one point of a commit;
 * each point is met twice, at its first and at a later time.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, verifyWorld } from '../../bucketstore/index.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const WORKER = fileURLToPath(new URL('./import-kill-worker.ts', import.meta.url));
const FILES = 120;

let root = '';
let folder = '';
const names = Array.from({ length: FILES }, (_, i) => `${String(i).padStart(3, '0')}.md`);

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'bucketstore-kill-'));
  folder = join(root, 'folder');
  await mkdir(folder);
  for (const [i, name] of names.entries()) {
    // Every fifth is staged as an object of its own.
    await writeFile(join(folder, name), `# ${name}\n${'x'.repeat(i % 5 === 0 ? 5000 + i : i)}\n`);
  }
});

afterAll(() => rm(root, { recursive: true, force: true }));

interface Ended {
  readonly signal: string | null;
  readonly acknowledged: readonly string[];
  readonly unchanged: number;
}

function runImport(directory: string, ...death: readonly string[]): Promise<Ended> {
  const args = ['--import', 'tsx', WORKER, directory, folder, ...death];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: ROOT }, (error, stdout, stderr) => {
      if (stderr !== '') return reject(new Error(stderr));
      const lines = stdout.split('\n').slice(0, -1);
      resolve({
        signal: error?.signal ?? null,
        acknowledged: lines.filter((line) => line.startsWith('new ')).map((line) => line.slice(4)),
        unchanged: lines.filter((line) => line.startsWith('unchanged ')).length,
      });
    });
  });
}

async function expectDocuments(location: string, expected: readonly string[]): Promise<number> {
  await using world = await openWorld(location);
  await using view = world.view();
  for (const name of expected) {
    const { body } = await view.get(`/${name}`);
    expect(Buffer.compare(body, await readFile(join(folder, name))), name).toBe(0);
  }
  return (await world.stat()).documents;
}

const POINTS = [
  'before a body is staged',
  'between stage and slot',
  'during the create of a slot',
  'between its create and the answer',
  'during its cleanup',
];
const TIMES = [1, 4];

describe('an import that is killed', () => {
  const cases = POINTS.flatMap((point) => TIMES.map((time) => [point, time] as const));

  it.each(cases)('%s, time %i, keeps what it acknowledged and goes on', async (point, time) => {
    const directory = join(root, `${point.replaceAll(' ', '-')}-${time}`);
    const location = `file:${directory}`;
    const killed = await runImport(directory, point, String(time));
    expect(killed.signal).toBe('SIGKILL');
    const documents = await expectDocuments(location, killed.acknowledged);
    expect(documents).toBeGreaterThanOrEqual(killed.acknowledged.length);
    expect(documents).toBeLessThan(FILES);
    expect((await verifyWorld(location, { deep: true })).problems).toEqual([]);
    const resumed = await runImport(directory);
    expect(resumed).toMatchObject({ signal: null, unchanged: documents });
    expect(await expectDocuments(location, names)).toBe(FILES);
    expect((await verifyWorld(location, { deep: true })).problems).toEqual([]);
    console.log(
      `killed ${point} (${time}): ${killed.acknowledged.length} acknowledged, ${documents} there`,
    );
  });
});
