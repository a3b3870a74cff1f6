/**
 * Goal: a view whose answers are of no one state, or of one that is too old, is told of.
 * Method: one small log made by hand; views of it with one answer made wrong. What is right is in
 * `told-example.ts`, and passes in `oracle-checks.test.ts`.
 */
import { describe, test } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import type { ReadAnswer } from './history.ts';
import { aMd, expectTold, read, type Spoil, view } from './told-example.ts';

const cases: [string, string, Spoil][] = [
  [
    'a path read that misses an acknowledged write',
    'I14',
    ({ told }) => ({
      calls: [view([read('get', '/a.md', aMd(told, 1), 36)])],
    }),
  ],
  [
    'a path read after one that failed',
    'I14',
    ({ told }) => ({
      calls: [view([read('get', '/q.md', null, 36), read('get', '/a.md', aMd(told, 1), 50)])],
    }),
  ],
  [
    'a list that is too old',
    'I14',
    () => ({
      calls: [view([read('list', '/', { kind: 'names', names: [] }, 1017)])],
    }),
  ],
  [
    'a process that is rolled back to what it showed before',
    'session',
    ({ told }) => {
      const newer = view([read('get', '/a.md', aMd(told, 2))]);
      const path = { kind: 'path', path: '/a.md' } as const;
      const older = view([read('hash', `sha256-${sha256Hex('one')}`, path, 900)]);
      const later = { ...older, disturbed: true, process: newer.process };
      return { calls: [newer, later] };
    },
  ],
  [
    'a read of the future',
    'I15',
    ({ told }) => ({
      calls: [view([read('get', '/a.md', aMd(told, 2), 20)])],
    }),
  ],
  [
    'two states in a view',
    'I15',
    ({ told }) => ({
      calls: [
        view([
          read('get', '/d/b.md', { kind: 'absent' }, 14),
          read('get', '/a.md', aMd(told, 2), 50),
        ]),
      ],
    }),
  ],
  [
    'a state that came after the first answer',
    'I15',
    ({ told }) => ({
      calls: [
        view([
          read('get', '/q.md', { kind: 'absent' }, 14),
          read('get', '/a.md', aMd(told, 2), 50),
        ]),
      ],
    }),
  ],
  [
    'a document that never was',
    'I15',
    ({ told }) => ({
      calls: [view([read('get', '/q.md', aMd(told, 1))])],
    }),
  ],
  [
    'versions that are not retained',
    'I15',
    ({ told }) => ({
      calls: [
        view([read('versions', '/a.md', { kind: 'versions', etags: [told[0]?.etag ?? '', ''] })]),
      ],
    }),
  ],
  [
    'a list that shows what is archived',
    'I15',
    () => ({
      calls: [view([read('list', '/d', { kind: 'names', names: ['b.md'] })])],
    }),
  ],
  [
    'a list in another order, or of another kind',
    'I15',
    () => ({
      calls: [view([read('list', '/', { kind: 'names', names: ['a.md/'] })])],
    }),
  ],
  [
    'a directory that is none',
    'I15',
    () => ({
      calls: [view([read('isDir', '/q', { kind: 'directory', isDir: true })])],
    }),
  ],
  [
    'a document said to be a directory',
    'I15',
    () => ({
      calls: [view([read('isDir', '/a.md', { kind: 'directory', isDir: true })])],
    }),
  ],
  [
    'a hash that leads to what is archived',
    'I15',
    () => ({
      calls: [
        view([read('hash', `sha256-${sha256Hex('large')}`, { kind: 'path', path: '/d/b.md' })]),
      ],
    }),
  ],
  [
    'a body of another version',
    'body',
    ({ told }) => ({
      calls: [view([read('get', '/a.md', { ...aMd(told, 2), body: 'one' } as ReadAnswer)])],
    }),
  ],
];

describe('`check()` tells of', () => {
  test.each(cases)('%s', (_, rule, spoil) => expectTold(rule, spoil));
});
