/**
 * Goal: a store that is opened where a world of the old format is says what it is and what to do,
 * and touches nothing.
 * Method: worlds of the old store in a bucket that counts what it is asked.
 */
import { expect, test } from 'vitest';
import { createCounter, withObserver } from '../../blob/index.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { openWorld, statSchema1, verifySchema1, verifyWorld } from '../../bucketstore/index.ts';
import { OldWorld } from '../schema1/old-world.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { SeededRandom } from '../support/seeded-random.ts';

async function oldWorld() {
  const clock = new ManualClock();
  const plain = createMemoryBucket({ timing: clock });
  const world = new OldWorld({ seed: 2, documents: 20 });
  await world.writeTo(plain);
  const counter = createCounter();
  const bucket = withObserver(plain, counter, { timing: clock });
  return { world, counter, components: { clock, random: new SeededRandom(1), bucket } };
}

test.each([
  ['to be read', {}],
  ['to be made', { create: true }],
  ['by its ID', { worldId: new OldWorld({ seed: 2, documents: 20 }).worldId }],
  ['by another', { create: true, worldId: '11111111-2222-4333-8444-555555555555' }],
  ['for reading only', { settings: { readOnly: true } }],
])('opening one %s reads one object and writes none', async (_, options) => {
  const { world, counter, components } = await oldWorld();
  const error = await failureOf(openWorld('memory:', { ...options, components }));
  expect(error).toMatchObject({
    code: 'UNSUPPORTED_FORMAT',
    details: { object: '_demarkus/v1/head.json', schema: 1 },
  });
  expect(String(error)).toContain(world.worldId);
  expect(String(error)).toMatch(/schema 1: bucketstore verify and stat read it; nothing moves/);
  const { requests, requestsTotal } = counter.snapshot();
  expect(requestsTotal).toBe(1);
  expect(requests.get).toBe(1);
});

test('verifyWorld() leaves it to verifySchema1(), and that leaves it as it is', async () => {
  const { world, counter, components } = await oldWorld();
  const options = { components };
  const refused = { code: 'UNSUPPORTED_FORMAT', details: { schema: 1 } };
  expect(await failureOf(verifyWorld('memory:', options))).toMatchObject(refused);
  const { worldId, documentCount: documents, sequence } = world;
  const facts = { schema: 1, worldId, documents, sequence, problems: [] };
  expect(await verifySchema1('memory:', { ...options, deep: true })).toMatchObject(facts);
  expect(await statSchema1('memory:', options)).toMatchObject(facts);
  const { create, replace, delete: deleted } = counter.snapshot().requests;
  expect([create, replace, deleted]).toEqual([0, 0, 0]);
});

test('another world than was asked for is refused', async () => {
  const { world, counter, components } = await oldWorld();
  for (const look of [statSchema1, verifySchema1]) {
    const { worldId } = world;
    expect(await look('memory:', { components, worldId })).toMatchObject({ worldId });
    counter.reset();
    const asked = '11111111-2222-4333-8444-555555555555';
    const error = await failureOf(look('memory:', { components, worldId: asked }));
    expect(error).toMatchObject({ code: 'LOCATION' });
    expect(String(error)).toContain(`holds world ${worldId}, not ${asked}`);
    expect(counter.snapshot().requestsTotal).toBe(1);
  }
});

test('of a world of schema 2 they say what it is', async () => {
  const clock = new ManualClock();
  const bucket = createMemoryBucket({ timing: clock });
  const components = { clock, random: new SeededRandom(1), bucket };
  const nothing = await failureOf(statSchema1('memory:', { components }));
  expect(nothing).toMatchObject({ code: 'NOT_FOUND' });
  const world = await clock.run(openWorld('memory:', { create: true, components }));
  await clock.run(world.close());
  for (const look of [statSchema1, verifySchema1]) {
    const error = await failureOf(look('memory:', { components }));
    expect(error).toMatchObject({ code: 'UNSUPPORTED_FORMAT', details: { schema: 2 } });
  }
});
