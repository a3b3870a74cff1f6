/**
 * Goal: an object that was put is there with exactly its bytes, whatever the bucket answered on the
 * way; what cannot be made sure of is an error.
 * Method: a bucket that stores and does not say so, refuses what is absent, or keeps other bytes;
 * virtual time.
 */
import { describe, expect, test } from 'vitest';
import { createMemoryBucket } from '../../blob/memory.ts';
import { ObjectWriter } from '../../checkpoint/object-writer.ts';
import { type Rule, unavailable, withFaults } from '../support/faulty-bucket.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const KEY = '_demarkus/v1/roots/00000001/a.json';
const BYTES = Buffer.from('what it is named after');

function scene(rules: readonly Rule[] = []) {
  const clock = new ManualClock();
  const below = createMemoryBucket({ timing: clock });
  const faulty = withFaults(below, rules, { timing: clock });
  const random = new SeededRandom(1);
  const writer = new ObjectWriter({ bucket: faulty.store, clock, random });
  const stored = async (): Promise<string | null> => {
    const found = await below.get(KEY);
    return found.found ? Buffer.from(found.bytes).toString() : null;
  };
  return { clock, below, faulty, writer, stored, put: () => clock.run(writer.put(KEY, BYTES)) };
}

describe('`put()`', () => {
  test('creates what is not there, and keeps what is', async () => {
    const { put, stored } = scene();
    expect(await put()).toBe('created');
    expect(await put()).toBe('kept');
    expect(await stored()).toBe(BYTES.toString());
  });

  test.each<[string, Rule['fault']]>([
    ['after its answer was lost', unavailable(true)],
    ['after a repeat below it stored it', { kind: 'exists', stored: true }],
  ])('reads it back %s', async (_, fault) => {
    const { put, stored, faulty } = scene([{ operation: 'create', fault }]);
    expect(await put()).toBe('kept');
    expect(await stored()).toBe(BYTES.toString());
    expect(faulty.hits()).toEqual([1]);
  });

  test.each<[string, Rule['fault']]>([
    ['an outcome is open and it is not there', unavailable(false)],
    ['it is refused and yet not there', { kind: 'exists' }],
  ])('tries again when %s', async (_, fault) => {
    const { put, stored, faulty } = scene([{ operation: 'create', fault, times: 3 }]);
    expect(await put()).toBe('created');
    expect(await stored()).toBe(BYTES.toString());
    expect(faulty.hits()).toEqual([3]);
  });

  test.each([
    ['other ones', Buffer.from('what it is named before')],
    ['a part of them', BYTES.subarray(0, -1)],
    ['them and more', Buffer.concat([BYTES, BYTES])],
  ])('refuses a name that holds %s', async (_, bytes) => {
    const { put, below } = scene();
    await below.create(KEY, bytes);
    expect(await failureOf(put())).toMatchObject({ code: 'INTEGRITY', details: { object: KEY } });
  });

  test('gives up after eight attempts, and says that it may be tried again', async () => {
    const { put, faulty } = scene([{ fault: unavailable(false), times: 1_000 }]);
    expect(await failureOf(put())).toMatchObject({ code: 'UNAVAILABLE', kind: 'retry' });
    expect(faulty.hits()).toEqual([16]);
  });

  test('tells at once of a failure that will not pass', async () => {
    const rules: Rule[] = [{ fault: { kind: 'fail', code: 'forbidden' }, operation: 'create' }];
    const { put, faulty, stored } = scene(rules);
    expect(await failureOf(put())).toMatchObject({ code: 'LOCATION' });
    expect(faulty.hits()).toEqual([1]);
    expect(await stored()).toBeNull();
  });

  test('ends with the reason of its signal', async () => {
    const { clock, writer } = scene([{ fault: unavailable(false), times: 1_000 }]);
    const controller = new AbortController();
    const put = failureOf(clock.run(writer.put(KEY, BYTES, { signal: controller.signal })));
    controller.abort('enough');
    expect(await put).toBe('enough');
  });
});

describe('`isThere()`', () => {
  test('says whether an object is there with its length', async () => {
    const { writer, below } = scene();
    expect(await writer.isThere(KEY, BYTES.length)).toBe(false);
    await below.create(KEY, BYTES);
    expect(await writer.isThere(KEY, BYTES.length)).toBe(true);
    expect(await writer.isThere(KEY, BYTES.length - 1)).toBe(false);
  });

  test('never takes a failure for an absent object', async () => {
    const { writer, clock } = scene([{ fault: { kind: 'fail', code: 'forbidden' } }]);
    expect(await failureOf(clock.run(writer.isThere(KEY, 1)))).toMatchObject({ code: 'LOCATION' });
  });
});
