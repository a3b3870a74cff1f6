/**
 * Goal: what is refused, or cannot be known, is told as what it is: only a request's own fault is
 * kept for the next tip, no other operation's answer is given, and *unknown* says for how long a
 * repeat is one.
 * Method: the judging of one member by a builder that fails as told; recalls of places that a test
 * makes up; a create that is never answered.
 */
import { describe, expect, test } from 'vitest';
import { integrityError, StoreError } from '../../bucketstore/base/errors.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { MutationBuilder } from '../../bucketstore/commit/build-mutation.ts';
import { judgeMember } from '../../bucketstore/commit/judge-member.ts';
import { Member } from '../../bucketstore/commit/member.ts';
import { parseMutation } from '../../bucketstore/commit/mutation.ts';
import { recall } from '../../bucketstore/commit/recall.ts';
import { slotKey } from '../../bucketstore/log/names.ts';
import { failureOf } from '../support/outcome.ts';
import { withStalls } from '../support/stalling-bucket.ts';
import { WorldBench } from '../support/world-bench.ts';

const OP = '11111111-2222-4333-8444-555555555555';
const OTHER = '99999999-2222-4333-8444-555555555555';
const REQUEST = { path: '/a.md', expected: 'any', body: 'a' } as const;

test.each([
  ['CONFLICT', new StoreError('CONFLICT', 'told'), true],
  ['what a precondition threw', new RangeError('told'), true],
  ['UNAVAILABLE', new StoreError('UNAVAILABLE', 'told'), false],
  ['INTEGRITY', integrityError('key', 'told'), false],
  ['LOCATION', new StoreError('LOCATION', 'told'), false],
])('a refusal by %s stands on a newer tip, or is asked again', async (_, error, lasts) => {
  const bench = new WorldBench();
  const { parts } = await bench.store();
  const builder = { build: () => Promise.reject(error) } as unknown as MutationBuilder;
  const mutation = parseMutation({ kind: 'publish', ...REQUEST }, OP);
  const member = new Member([mutation], bench.clock, { deadlineMs: 1 });
  const { snapshot } = parts.follower;
  const verdict = await bench.run(judgeMember(builder, snapshot, member, sequence(2)));
  expect(verdict).toMatchObject({ kind: 'refused', error });
  expect('inquiry' in verdict && verdict.inquiry !== null).toBe(lasts);
});

describe('recall()', () => {
  test.each([
    ['another operation’s slot', OTHER, 2],
    ['a place behind the slot’s end', OP, 3],
  ])('answers from no %s', async (_, op, at) => {
    const bench = new WorldBench();
    const { world, parts } = await bench.store();
    await bench.run(world.publish(REQUEST, { op: OP }));
    const place = { op, slot: sequence(2), sequence: sequence(at) };
    const recalled = recall(parts, parts.follower.snapshot, place, {});
    const details = { object: slotKey(sequence(2)) };
    expect(await failureOf(bench.run(recalled))).toMatchObject({ code: 'INTEGRITY', details });
    const own = { op: OP, slot: sequence(2), sequence: sequence(2) };
    const [result] = await bench.run(recall(parts, parts.follower.snapshot, own, {}));
    expect(result).toMatchObject({ committed: true, op: OP, sequence: 2 });
  });
});

test('*unknown* says how long a repeat gets the first answer', async () => {
  const bench = new WorldBench();
  const stalling = withStalls(bench.bucket);
  const world = await bench.open({ bucket: stalling.store });
  stalling.stall({ mode: 'never-answers', key: (key) => key.includes('/log/') });
  const error = await failureOf(bench.run(world.publish(REQUEST, { op: OP, deadlineMs: 1000 })));
  expect(error).toMatchObject({ code: 'UNKNOWN_OUTCOME' });
  expect(String(error)).toContain('for 15 minutes or 65536 entries it gets the first answer');
});
