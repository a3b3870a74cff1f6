/**
 * Goal: session credentials are renewed in time, once for all who ask, and a failed renewal costs
 * nothing while the old ones are good.
 * Method: a source that counts and fails on command, in virtual time.
 */
import { expect, test } from 'vitest';
import { renewingProvider, type S3Credentials } from '../../blob/s3-credentials.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';

const LIFETIME_MS = 3_600_000;

class Source {
  readonly clock = new ManualClock();
  fetches = 0;
  fails = false;
  lifetimeMs: number | undefined = LIFETIME_MS;
  readonly provide = renewingProvider(async () => this.#fetch(), this.clock);

  async token(options?: { readonly forceRefresh?: boolean }): Promise<string | undefined> {
    return (await this.provide(options)).sessionToken;
  }

  #fetch(): S3Credentials {
    this.fetches += 1;
    if (this.fails) throw new Error('away');
    const keys = { accessKeyId: 'k', secretAccessKey: 's', sessionToken: `t${this.fetches}` };
    if (this.lifetimeMs === undefined) return keys;
    return { ...keys, expiration: new Date(this.clock.now() + this.lifetimeMs) };
  }
}

test('credentials are kept until 5 minutes of their life are left, then renewed', async () => {
  const source = new Source();
  expect(await source.token()).toBe('t1');
  await source.clock.advance(LIFETIME_MS - 300_001);
  expect(await source.token()).toBe('t1');
  await source.clock.advance(1);
  expect(await source.token()).toBe('t2');
  expect(await source.token()).toBe('t2');
});

test('short-lived credentials are renewed after three quarters of their life', async () => {
  const source = new Source();
  source.lifetimeMs = 4_000;
  await source.token();
  await source.clock.advance(2_999);
  expect(await source.token()).toBe('t1');
  await source.clock.advance(1);
  expect(await source.token()).toBe('t2');
});

test('credentials without a date are kept until the service refuses them', async () => {
  const source = new Source();
  source.lifetimeMs = undefined;
  await source.token();
  await source.clock.advance(100 * LIFETIME_MS);
  expect(await source.token()).toBe('t1');
  expect(await source.token({ forceRefresh: true })).toBe('t2');
  expect(await source.token()).toBe('t2');
});

test('many who ask at once cost one fetch', async () => {
  const source = new Source();
  const tokens = await Promise.all(Array.from({ length: 10 }, () => source.token()));
  expect(new Set(tokens)).toEqual(new Set(['t1']));
  expect(source.fetches).toBe(1);
});

test('a renewal that fails is not noticed before the old ones expire', async () => {
  const source = new Source();
  await source.token();
  source.fails = true;
  await source.clock.advance(LIFETIME_MS - 1);
  expect(await source.token()).toBe('t1');
  await source.clock.advance(1);
  expect(await failureOf(source.token())).toMatchObject({ message: 'away' });
  source.fails = false;
  expect(await source.token()).toBe(`t${source.fetches}`);
});

test('refused credentials never come back, also when their renewal fails', async () => {
  const source = new Source();
  await source.token();
  source.fails = true;
  expect(await failureOf(source.token({ forceRefresh: true }))).toMatchObject({ message: 'away' });
  expect(await failureOf(source.token())).toMatchObject({ message: 'away' });
});
