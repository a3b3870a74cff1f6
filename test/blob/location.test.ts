/**
 * Goal: a location is read in one way, written in the same, and a wrong one says what is wrong.
 * Method: tables of both.
 */
import { expect, test } from 'vitest';
import { formatLocation, parseLocation } from '../../blob/location.ts';

test.each([
  'gs://bucket',
  'gs://bucket/worlds/a?endpoint=http%3A%2F%2F127.0.0.1%3A1',
  's3://my.bucket-1/a/b?endpoint=http%3A%2F%2F127.0.0.1%3A7480&region=eu&path-style=true',
  's3://bucket?checksums=required',
  'file:data',
  'file:/var/data',
  'memory:',
  'memory:name',
  'model:file:data',
  'model:memory:x',
])('`parseLocation()` and `formatLocation()` are inverses: %s', (text) => {
  expect(formatLocation(parseLocation(text))).toBe(text);
});

test('a trailing slash of a prefix, and file:///, mean the same', () => {
  expect(parseLocation('gs://bucket/a/')).toEqual(parseLocation('gs://bucket/a'));
  expect(parseLocation('file:///var/data')).toEqual(parseLocation('file:/var/data'));
});

test.each([
  ['', 'one of'],
  ['data', 'one of'],
  ['http://x', 'one of'],
  ['gs://', 'bucket name'],
  ['gs://B', 'bucket name'],
  ['gs://bucket//a', 'single slashes'],
  ['gs://bucket/ü', 'single slashes'],
  ['gs://bucket?region=eu', 'unknown setting "region"'],
  ['s3://bucket?chekcsums=required', 'unknown setting'],
  ['file:', 'needs a path'],
  ['file://host/x', 'not a host'],
  ['memory:a/b', 'memory name'],
  ['model:model:memory:', 'one of'],
])('%s is refused, saying: %s', (text, words) => {
  expect(() => parseLocation(text)).toThrow(words);
});
