/**
 * Goal: a world on a service that refuses checksum headers, or whose session credentials expire,
 * works or says why, and loses and doubles nothing.
 * Method: the store over the real SDK on a server that checks both; the oracle reads what was
 * stored.
 */
import { afterEach, describe, expect, test } from 'vitest';
import type { S3Credentials } from '../../blob/s3.ts';
import { openWorld, type World } from '../../bucketstore/index.ts';
import { readWorld } from '../oracle/world.ts';
import type { FaultServer } from '../support/fault-server.ts';
import { failureOf } from '../support/outcome.ts';
import { CREDENTIALS, closeAll, faultServer, openS3 } from '../support/s3-faults.ts';

afterEach(closeAll);

type S3Options = Parameters<typeof openS3>[1];

function openOn(server: FaultServer, options?: S3Options): Promise<World> {
  const components = { bucket: openS3(server, options) };
  return openWorld('memory:', { create: true, components });
}

describe('B08 a server that refuses checksum headers', () => {
  test.each([501, 403] as const)('by %i holds a world with the setting', async (status) => {
    const server = await faultServer();
    server.refuseChecksums = status;
    await using world = await openOn(server, { checksums: 'required' });
    const body = 'x'.repeat(100_000);
    await world.publish({ path: '/small.md', expected: 'absent', body: 'small' });
    await world.publish({ path: '/large.md', expected: 'absent', body });
    expect((await world.view().get('/large.md')).body.byteLength).toBe(body.length);
  });

  test.each([501, 403] as const)('by %i names the setting without it', async (status) => {
    const server = await faultServer();
    server.refuseChecksums = status;
    const error = await failureOf(openOn(server));
    expect(error).toMatchObject({ code: 'LOCATION' });
    expect(String(error)).toContain('checksums=required');
    expect(server.objects.size).toBe(0);
  });
});

describe('B09 session credentials that expire under a world', () => {
  const WRITES = 12;

  /** Gives a new token at each call, but for the calls that `fails` names. */
  function tokens(server: FaultServer, fails: (call: number) => boolean) {
    let calls = 0;
    return async (): Promise<S3Credentials> => {
      calls += 1;
      if (fails(calls)) throw new Error('the token service is away');
      const sessionToken = `token ${calls}`;
      server.validTokens = new Set([sessionToken]);
      return { ...CREDENTIALS, sessionToken };
    };
  }

  test('and are renewed lose and double no write', async () => {
    const server = await faultServer();
    await using world = await openOn(server, { credentials: tokens(server, (call) => call === 2) });
    for (let index = 0; index < WRITES; index++) {
      // The service stops taking the token in the middle of the work.
      if (index % 4 === 2) server.validTokens = new Set();
      await world.publish({ path: `/${index}.md`, expected: 'absent', body: `${index}` });
    }
    server.validTokens = undefined;
    const { documents } = await readWorld(openS3(server));
    expect([...documents.values()].map(({ version }) => version)).toEqual(
      Array.from({ length: WRITES }, () => 1),
    );
  });

  test('and are not renewed make writes fail, and acknowledge none', async () => {
    const server = await faultServer();
    await using world = await openOn(server, { credentials: tokens(server, (call) => call > 1) });
    await world.publish({ path: '/before.md', expected: 'absent', body: 'x' });
    server.validTokens = new Set();
    const write = world.publish({ path: '/after.md', expected: 'absent', body: 'x' });
    const error = await failureOf(write);
    expect(error).toMatchObject({ code: 'LOCATION', outcome: 'not committed' });
    expect(String(error)).toMatch(/credentials/);
    server.validTokens = undefined;
    const { documents } = await readWorld(openS3(server));
    expect([...documents.keys()]).toEqual(['/before.md']);
  });
});
