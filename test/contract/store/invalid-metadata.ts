/** InvalidMetadata: thirteen maps that no version may have, on publish and on append. */
import assert from 'node:assert/strict';
import { create, inView, refused, type StoreCase } from './store-case.ts';

const many = (count: number): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, 'x']));

const CASES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'reserved version': { version: '3' },
  'reserved previous-hash': { 'previous-hash': 'sha256-0' },
  'reserved archived': { archived: 'true' },
  'upper case in a key': { Title: 'x' },
  'a character outside the alphabet': { some_key: 'x' },
  'an empty key': { '': 'x' },
  'a line feed in a value': { title: 'a\nb' },
  'a carriage return in a value': { title: 'a\rb' },
  'retention zero': { retention: '0' },
  'retention negative': { retention: '-1' },
  'retention no whole number': { retention: '1.5' },
  'too many keys': many(51),
  'too many bytes': { title: 'x'.repeat(1020) },
};

export const invalidMetadata: StoreCase = async ({ open }) => {
  const store = await open();
  await create(store, '/base.md', 'base');
  for (const [name, metadata] of Object.entries(CASES)) {
    const write = { path: '/new.md', expected: 'any', body: name, metadata } as const;
    await refused(store.publish(write), 'INVALID_META');
    const append = { path: '/base.md', expected: 1, content: name, metadata };
    await refused(store.append(append), 'INVALID_META');
  }
  await refused(
    inView(store, (view) => view.get('/new.md')),
    'NOT_FOUND',
  );
  assert.equal((await inView(store, (view) => view.get('/base.md'))).version, 1);
  assert.equal((await store.stat()).sequence, 2, 'nothing was stored');
  await create(store, '/most.md', 'most', many(50));
  await create(store, '/longest.md', 'longest', { title: 'x'.repeat(1019) });
};
