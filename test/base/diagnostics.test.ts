/**
 * Goal: a store tells what it does to whoever listens, and nothing costs when nobody does.
 * Method: a channel with and without a subscriber; broken invariants as a caller meets them.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, test } from 'vitest';
import { assert, assertNever, InvariantError } from '../../bucketstore/base/assert.ts';
import { publish, silentLogger } from '../../bucketstore/base/diagnostics.ts';
import { integrityError } from '../../bucketstore/base/errors.ts';

test('`publish()` builds its event only when somebody listens', () => {
  const seen: unknown[] = [];
  let built = 0;
  const event = { world: 'w', store: 's', first: 2 };
  const build = (): typeof event => {
    built += 1;
    return event;
  };
  publish('bucketstore:lost', build);
  const listener = (message: unknown): void => {
    seen.push(message);
  };
  subscribe('bucketstore:lost', listener);
  publish('bucketstore:lost', build);
  unsubscribe('bucketstore:lost', listener);
  publish('bucketstore:lost', build);
  expect([built, seen]).toEqual([1, [event]]);
});

test('the default logger takes every level and says nothing', () => {
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    expect(silentLogger[level]({}, 'x')).toBeUndefined();
  }
});

test('a broken invariant is an error of its own, its message built only then', () => {
  assert(true, () => {
    throw new TypeError('not to be built');
  });
  expect(() => assert(false, 'one')).toThrow(InvariantError);
  expect(() => assert(false, () => 'two')).toThrow('two');
  expect(() => assertNever('x' as never)).toThrow(InvariantError);
});

test('an integrity error names its object', () => {
  const error = integrityError('log/2.slot', 'is cut short');
  expect([error.code, error.details.object, error.message]).toEqual([
    'INTEGRITY',
    'log/2.slot',
    'log/2.slot: is cut short',
  ]);
});
