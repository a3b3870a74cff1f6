/**
 * Goal: on a directory the probe says what a person does about a directory, and leaves nothing of
 * its own. Method: file buckets on temporary directories, on a file system that refuses.
 */
import { afterAll, expect, test } from 'vitest';
import { nodeFileSystem } from '../../blob/file-system.ts';
import { assertUsable, type ProbeReport, probe } from '../../blob/probe.ts';
import { probeReportLines } from '../../blob/probe-report.ts';
import { type FileCall, hookedFileSystem, posixError } from '../support/faulty-file-system.ts';
import { bucketIn, stillTiming, temporaryDirectories } from '../support/file-buckets.ts';
import { failureOf } from '../support/outcome.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const directories = await temporaryDirectories();
afterAll(directories.remove);

const chance = new SeededRandom(5);
const WRITES: readonly FileCall['name'][] = ['openNew', 'link', 'unlink', 'mkdir', 'rmdir'];

/** What the probe says of a directory on which every write fails. */
async function refused(code: string): Promise<ProbeReport> {
  const fs = hookedFileSystem(nodeFileSystem, {
    before: ({ name }) => {
      if (WRITES.includes(name)) throw posixError(code);
    },
  });
  const bucket = bucketIn(await directories.fresh(), { fs });
  return probe(bucket, { chance, timing: stillTiming });
}

test.each([
  ['EROFS', /read-only; mount it for writing/],
  ['EACCES', /give it read and write access to the directory/],
  ['EPERM', /give it read and write access to the directory/],
])('a file system that refuses (%s) is told as one, not as a cloud', async (code, advice) => {
  const report = await refused(code);
  expect(report.missingPermissions).toEqual([]);
  expect(report.guarantees[0]).toMatchObject({ holds: 'not tried', detail: 'create is forbidden' });
  const lines = probeReportLines(report);
  expect(lines.filter((line) => advice.test(line))).toEqual([expect.stringMatching(/^all: /)]);
  expect(lines.join('\n')).not.toMatch(/storage\.|s3:|grant/);
  const error = await failureOf((async () => assertUsable(report))());
  expect(error).toMatchObject({ name: 'BlobError', code: 'forbidden' });
  expect(String(error)).toMatch(advice);
  expect(String(error)).not.toMatch(/storage\.|s3:|credentials/);
});
