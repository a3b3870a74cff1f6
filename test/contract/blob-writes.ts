/**
 * The cases of the bucket contract about writing: who wins, what is stored, what changes a
 * generation.
 */
import assert from 'node:assert/strict';
import type { BlobStore } from '../../blob/blob.ts';
import { isBlobError } from '../../blob/errors.ts';
import {
  assertBytes,
  attributesOf,
  type BlobCaseContext,
  bytesOf,
  listKeys,
  mustCreate,
  patternOf,
  readBytes,
} from './blob-case.ts';

/** The second creator of a name is told so, and changes nothing. */
export async function duplicateCreate({ store }: BlobCaseContext): Promise<void> {
  const first = bytesOf('first');
  await mustCreate(store, 'log/1', first);
  const before = await attributesOf(store, 'log/1');
  for (const bytes of [bytesOf('second, longer'), first, new Uint8Array(0)]) {
    assert.equal((await store.create('log/1', bytes)).outcome, 'exists');
  }
  assertBytes(await readBytes(store, 'log/1'), first, 'log/1');
  assert.deepEqual(await attributesOf(store, 'log/1'), before);
}

/** Of 50 concurrent creators of a name exactly one is told `created`, and its bytes are stored. */
export async function concurrentCreate({ store, count }: BlobCaseContext): Promise<void> {
  const creators = count(50, 8);
  const names = Array.from({ length: count(8, 2) }, (_, i) => `race/${i}`);
  await Promise.all(names.map((key, i) => raceFor(store, key, creators, i)));
  assert.deepEqual(await listKeys(store, { prefix: 'race/', limit: 1000 }), names);
}

async function raceFor(
  store: BlobStore,
  key: string,
  creators: number,
  seed: number,
): Promise<void> {
  const offers = Array.from({ length: creators }, (_, i) => patternOf(100 + i, seed * 100 + i));
  const answers = await Promise.all(offers.map((bytes) => outcomeOf(store.create(key, bytes))));
  await assertOneWinner(store, key, offers, answers, 'created');
}

/** A service may leave a writer in doubt; reading back resolves it. */
async function outcomeOf<O>(call: Promise<{ readonly outcome: O }>): Promise<O | 'ambiguous'> {
  try {
    return (await call).outcome;
  } catch (error) {
    if (isBlobError(error) && error.ambiguous) return 'ambiguous';
    throw error;
  }
}

/** The stored bytes are one offer, and nobody else was told to have won. */
async function assertOneWinner(
  store: BlobStore,
  key: string,
  offers: readonly Uint8Array[],
  answers: readonly string[],
  won: 'created' | 'replaced',
): Promise<void> {
  const stored = await readBytes(store, key);
  const winner = offers.findIndex((bytes) => Buffer.compare(bytes, stored) === 0);
  assert.notEqual(winner, -1, `${key} holds what nobody offered`);
  const told = answers.flatMap((answer, i) => (answer === won ? [i] : []));
  assert.deepEqual(answers[winner] === 'ambiguous' ? [] : [winner], told, `winners of ${key}`);
}

/** `replace` stores over the generation it names and over no other, nor over nothing. */
export async function replaceCas({ store, supports }: BlobCaseContext): Promise<void> {
  const key = '_demarkus/v1/head.json';
  await mustCreate(store, key, bytesOf('one'));
  const one = await attributesOf(store, key);
  assert.equal((await store.replace(key, one.generation, bytesOf('two!'))).outcome, 'replaced');
  assertBytes(await readBytes(store, key), bytesOf('two!'), key);
  const two = await attributesOf(store, key);
  assert.notEqual(two.generation, one.generation);
  assert.equal(two.size, 4);
  assert.equal((await store.create(key, bytesOf('new'))).outcome, 'exists');

  assert.equal((await store.replace(key, one.generation, bytesOf('three'))).outcome, 'changed');
  assertBytes(await readBytes(store, key), bytesOf('two!'), `${key} after a refused replace`);
  assert.equal((await store.replace(key, two.generation, bytesOf('4'))).outcome, 'replaced');
  const four = await attributesOf(store, key);
  assert.equal((await store.list({ prefix: key, limit: 2 })).objects.length, 1);
  assert.deepEqual((await store.list({ prefix: key, limit: 2 })).objects[0], four);
  const read = await store.get(key);
  assert.ok(read.found);
  assert.deepEqual(read.attributes, four);

  await store.delete(key);
  assert.equal((await store.replace(key, four.generation, bytesOf('5'))).outcome, 'changed');
  assert.equal((await store.get(key)).found, false);
  await mustCreate(store, key, bytesOf(supports.uniqueGenerations ? '4' : 'six'));
  assert.equal((await store.replace(key, four.generation, bytesOf('7'))).outcome, 'changed');
  assert.equal((await store.replace('absent', four.generation, bytesOf('8'))).outcome, 'changed');
}

/** Of concurrent replacers at one generation exactly one wins, round after round. */
export async function concurrentReplace({ store, count }: BlobCaseContext): Promise<void> {
  const key = 'head.json';
  await mustCreate(store, key, patternOf(64, 0));
  for (let round = 1; round <= count(5, 2); round++) {
    const { generation } = await attributesOf(store, key);
    const offers = Array.from({ length: count(20, 4) }, (_, i) => patternOf(64 + i, round * 100));
    const answers = await Promise.all(
      offers.map((bytes) => outcomeOf(store.replace(key, generation, bytes))),
    );
    await assertOneWinner(store, key, offers, answers, 'replaced');
  }
}

/** `delete` removes whatever is there; an absent object is success. */
export async function unconditionalDelete({ store }: BlobCaseContext): Promise<void> {
  await store.delete('never/there');
  await mustCreate(store, 'a/1', bytesOf('x'));
  await mustCreate(store, 'a/2', bytesOf('y'));
  await store.delete('a/1');
  await store.delete('a/1');
  await store.delete('a');
  assert.equal((await store.get('a/1')).found, false);
  assert.equal((await store.head('a/1')).found, false);
  assert.deepEqual(await listKeys(store, { prefix: '', limit: 10 }), ['a/2']);
  await mustCreate(store, 'a/1', bytesOf('again'));
  assertBytes(await readBytes(store, 'a/1'), bytesOf('again'), 'a/1');
}

/** Deleting and creating again gives another generation, so what was seen before cannot win. */
export async function deleteRecreateAba({
  store,
  supports,
  count,
}: BlobCaseContext): Promise<void> {
  const generations = new Set<string>();
  const rounds = count(20, 4);
  for (let round = 0; round < rounds; round++) {
    const same = supports.uniqueGenerations;
    await mustCreate(store, 'aba', bytesOf(same ? 'same bytes' : `bytes ${round}`));
    generations.add((await attributesOf(store, 'aba')).generation);
    if (round < rounds - 1) await store.delete('aba');
  }
  assert.equal(generations.size, rounds, 'a generation came back');
  if (!supports.replace) return;
  const [first] = generations;
  assert.equal((await store.replace('aba', first ?? '', bytesOf('late'))).outcome, 'changed');
}
