/**
 * Makes a world of the old store, for trials:
 *
 *     node --import tsx test/schema1/make.ts LOCATION DOCUMENTS [SEED]
 *
 * A directory is written without syncs, at some thousand documents a second; anywhere else every
 * object is a create.
 */
import { setTimeout } from 'node:timers/promises';
import { formatLocation, openDriver, parseLocation, type Timing } from '../../blob/index.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { HEAD_KEY } from './names.ts';
import { OldWorld } from './old-world.ts';

const [location = '', documents = '', seed = '1'] = process.argv.slice(2);
if (!/^\d+$/.test(documents) || !/^\d+$/.test(seed)) {
  console.error('usage: make.ts LOCATION DOCUMENTS [SEED]');
  process.exit(2);
}
const where = parseLocation(location);
const timing: Timing = {
  now: Date.now,
  monotonic: () => performance.now(),
  sleep: async (ms, options) => {
    await setTimeout(ms, undefined, options);
  },
};
const chance = new SeededRandom(Date.now());
const bucket = await openDriver(where, { timing, chance, createDirectory: true });
if ((await bucket.head(HEAD_KEY)).found) {
  console.error(`${formatLocation(where)} holds a world already`);
  process.exit(1);
}
const world = new OldWorld({ seed: Number(seed), documents: Number(documents) });
const startMs = timing.monotonic();
const objects =
  where.kind === 'file' ? world.writeToDirectory(where.path) : await world.writeTo(bucket);
await bucket.close();
const seconds = ((timing.monotonic() - startMs) / 1000).toFixed(1);
console.log(
  `world ${world.worldId} at sequence ${world.sequence}: ${world.documentCount} documents, ` +
    `${objects} objects written in ${seconds} s`,
);
