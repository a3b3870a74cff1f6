/**
 * Goal: an answer about a name is believed on a fresh sighting only, or after a list made behind it
 * that shows no checkpoint beyond the tip. Method: the rule over a bucket that tells its own date
 * and writes down what it is asked, under virtual time.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { type Around, decorate } from '../../blob/decorate.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { Checkpoints } from '../../bucketstore/log/checkpoints.ts';
import { checkpointKey } from '../../bucketstore/log/names.ts';
import { FENCE_MS, type Sighting } from '../../bucketstore/log/sighting.ts';
import { Sightings } from '../../bucketstore/log/sightings.ts';
import { withFaults } from '../support/faulty-bucket.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';

const TIP = sequence(7);
const START_MS = 40_000;
let clock: ManualClock;
let asked: string[];
let serviceMs: number;
let sightings: Sightings;
let memory: ReturnType<typeof createMemoryBucket>;

function open(rules: Parameters<typeof withFaults>[1] = []): void {
  clock = new ManualClock();
  asked = [];
  serviceMs = START_MS;
  memory = createMemoryBucket({ timing: clock });
  const dated: Around = async (call, send) => {
    asked.push(`${call.operation} ${call.key}`);
    return { ...(await send()), date: serviceMs };
  };
  const bucket = decorate(withFaults(memory, rules, { timing: clock }).store, dated);
  sightings = new Sightings({ clock, checkpoints: new Checkpoints(bucket) });
}

beforeEach(() => open());

/** As if the next name had just been found missing. */
function look(tip = TIP): Sighting {
  sightings.note(tip, sightings.moment(), serviceMs);
  const { newest } = sightings;
  if (newest === null) throw new Error('nothing was noted');
  return newest;
}

function sleep(ms: number): void {
  clock.shiftMonotonic(ms);
  clock.shiftWall(ms);
  serviceMs += ms;
}

const believes = (held: Sighting | null) => sightings.believes(TIP, held, serviceMs, {});
const record = (at: number) => memory.create(checkpointKey(sequence(at), 1), Buffer.from('{}'));

const LIST = 'list _demarkus/v1/checkpoints/';

describe('believes()', () => {
  test('on a fresh sighting, without a request', async () => {
    const held = look();
    await record(8);
    sleep(FENCE_MS);
    expect(await believes(held)).toBe(true);
    expect(asked).toEqual([]);
  });

  test.each<[string, (ms: number) => void]>([
    ['wall', (ms) => clock.shiftWall(ms)],
    ['monotonic', (ms) => clock.shiftMonotonic(ms)],
    ['service', (ms) => (serviceMs += ms)],
  ])('lists once when the %s clock alone shows the pause', async (_, pass) => {
    const held = look();
    pass(FENCE_MS + 1);
    expect(await believes(held)).toBe(true);
    expect(asked).toEqual([LIST]);
  });

  test('not when there is a checkpoint beyond the tip; and that renews nothing', async () => {
    const held = look();
    await record(8);
    sleep(FENCE_MS + 1);
    expect(await believes(held)).toBe(false);
    expect(sightings.freshOf(TIP)).toBeNull();
    expect(sightings.bears(serviceMs)).toBe(false);
    // As long as it is there, and that is asked anew each time.
    expect(await believes(held)).toBe(false);
    expect(asked).toEqual([LIST, LIST]);
  });

  test.each([6, 7])('when the newest checkpoint is at %i, not beyond 7: renewed', async (at) => {
    const held = look();
    await record(at);
    sleep(FENCE_MS + 1);
    expect(await believes(held)).toBe(true);
    const renewed = sightings.freshOf(TIP);
    expect(renewed).toEqual({ tip: TIP, at: sightings.moment(serviceMs) });
    sleep(FENCE_MS);
    expect(await believes(renewed)).toBe(true);
    expect(asked).toEqual([LIST]);
  });

  test('a renewed sighting is dated before its list, not after', async () => {
    const held = look();
    open([{ operation: 'list', fault: { kind: 'delay', beforeMs: 9_000 } }]);
    sleep(FENCE_MS + 1);
    const began = clock.monotonic();
    expect(await clock.run(believes(held))).toBe(true);
    expect(sightings.newest?.at.monotonic).toBe(began);
  });

  test('without any sighting it lists', async () => {
    expect(await believes(null)).toBe(true);
    expect(asked).toEqual([LIST]);
    open();
    await record(8);
    expect(await believes(null)).toBe(false);
  });

  test('a newer sighting of the same tip counts; one of another tip does not', async () => {
    const held = look();
    sleep(FENCE_MS + 1);
    look();
    expect(await believes(held)).toBe(true);
    expect(asked).toEqual([]);
    sleep(FENCE_MS + 1);
    look(sequence(8));
    await believes(held);
    expect(asked).toEqual([LIST]);
  });

  test('throws while the list fails: not believed, and not renewed', async () => {
    open([{ operation: 'list', fault: { kind: 'fail', code: 'unavailable' } }]);
    const held = look();
    sleep(FENCE_MS + 1);
    expect(await failureOf(believes(held))).toMatchObject({ code: 'UNAVAILABLE' });
    expect(sightings.newest).toBe(held);
    expect(await believes(held)).toBe(true);
  });
});

describe('pass()', () => {
  test('takes the sighting along a slot, and does not renew it', async () => {
    const held = look();
    sleep(FENCE_MS - 1);
    sightings.pass(TIP, sequence(9));
    expect(sightings.newest).toEqual({ tip: 9, at: held.at });
    expect(sightings.freshOf(sequence(9))).not.toBeNull();
    sleep(2);
    expect(sightings.freshOf(sequence(9))).toBeNull();
  });

  test('not from another tip, and not without a sighting', () => {
    sightings.pass(TIP, sequence(9));
    expect(sightings.newest).toBeNull();
    const held = look();
    sightings.pass(sequence(6), sequence(9));
    expect(sightings.newest).toBe(held);
  });
});

describe('what a create may rest on', () => {
  test('a sighting of this very tip that is fresh', () => {
    expect(sightings.freshOf(TIP)).toBeNull();
    const held = look();
    expect(sightings.freshOf(TIP)).toBe(held);
    expect(sightings.freshOf(sequence(8))).toBeNull();
    sleep(FENCE_MS + 1);
    expect(sightings.freshOf(TIP)).toBeNull();
  });

  test('a sighting that the service’s date has aged bears no answer', () => {
    look();
    expect(sightings.bears(serviceMs)).toBe(true);
    expect(sightings.bears(serviceMs + FENCE_MS + 1)).toBe(false);
    open();
    expect(sightings.bears(serviceMs)).toBe(false);
  });
});
