/**
 * Goal: what a sighting is worth when later answers contradict it, name another tip, or lack the
 * date that it has. Method: the rule over a bucket in memory whose records the test makes, under
 * virtual time; the service's date is handed in.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { type Around, decorate } from '../../blob/decorate.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { Checkpoints } from '../../bucketstore/log/checkpoints.ts';
import { checkpointKey } from '../../bucketstore/log/names.ts';
import { FENCE_MS, type Sighting } from '../../bucketstore/log/sighting.ts';
import { Sightings } from '../../bucketstore/log/sightings.ts';
import { ManualClock } from '../support/manual-clock.ts';

const TIP = sequence(7);
const START_MS = 40_000;
let clock: ManualClock;
let lists: number;
let serviceMs: number;
let sightings: Sightings;
let memory: ReturnType<typeof createMemoryBucket>;

beforeEach(() => {
  clock = new ManualClock();
  lists = 0;
  serviceMs = START_MS;
  memory = createMemoryBucket({ timing: clock });
  const dated: Around = async (_, send) => {
    lists++;
    return { ...(await send()), date: serviceMs };
  };
  sightings = new Sightings({ clock, checkpoints: new Checkpoints(decorate(memory, dated)) });
});

/** As if the next name had just been found missing. */
function look(tip = TIP): Sighting {
  sightings.note(tip, sightings.moment(), serviceMs);
  const { newest } = sightings;
  if (newest === null) throw new Error('nothing was noted');
  return newest;
}

const believes = (held: Sighting | null) => sightings.believes(TIP, held, serviceMs, {});
const record = (at: number) => memory.create(checkpointKey(sequence(at), 1), Buffer.from('{}'));

describe('a checkpoint beyond the tip', () => {
  test.each([
    ['voids', 'this tip', 7, null],
    ['voids', 'a lower one', 6, null],
    ['leaves', 'a higher one', 8, 8],
  ])('%s what was seen of %s, however fresh', async (_, __, tip, left) => {
    await record(8);
    look(sequence(tip));
    expect(await believes(null)).toBe(false);
    expect(sightings.newest?.tip ?? null).toBe(left);
    expect(sightings.freshOf(sequence(tip)) === null).toBe(left === null);
    expect(sightings.bears(serviceMs)).toBe(left !== null);
  });
});

test('a sighting of a higher tip says nothing of the names before it; a lower does', async () => {
  await record(8);
  expect(await believes(look(sequence(9)))).toBe(false);
  expect(lists).toBe(1);
  expect(await believes({ tip: sequence(6), at: sightings.moment(serviceMs) })).toBe(true);
  expect(lists).toBe(1);
});

describe('without a date', () => {
  test('a later look keeps the one there was: the third clock goes on', async () => {
    look();
    serviceMs += FENCE_MS + 1;
    sightings.note(TIP, sightings.moment(), undefined);
    const held = sightings.newest;
    expect(held?.at.date).toBe(START_MS);
    await record(8);
    expect(sightings.bears(serviceMs)).toBe(false);
    expect(await believes(held)).toBe(false);
  });

  test('a look is not noted that began before the one whose date it would get', () => {
    const early = sightings.moment();
    clock.shiftMonotonic(1000);
    const held = look();
    sightings.note(sequence(8), early, undefined);
    expect(sightings.newest).toBe(held);
    sightings.note(sequence(8), early, serviceMs);
    expect(sightings.newest).toEqual({ tip: 8, at: { ...early, date: serviceMs } });
  });

  test('an answer costs one list when the sighting has one', async () => {
    const held = look();
    expect(sightings.bears(undefined)).toBe(false);
    expect(await sightings.believes(TIP, held, undefined, {})).toBe(true);
    expect(lists).toBe(1);
  });

  test('a world whose service tells none is judged by the local clocks', async () => {
    sightings.note(TIP, sightings.moment(), undefined);
    expect(sightings.bears(undefined)).toBe(true);
    expect(await sightings.believes(TIP, sightings.newest, undefined, {})).toBe(true);
    expect(lists).toBe(0);
  });
});
