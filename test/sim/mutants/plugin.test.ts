/**
 * Goal: a mutant is loaded beside the sound store and really is one; one that is not never passes.
 * Method: modules imported with and without the query in one process, by the plugin that this
 * project runs with; edits that fit nowhere; every mutant of the list against the source.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compareUtf8 } from '../../../bucketstore/base/order.ts';
import { OrderedMap } from '../../../bucketstore/snapshot/ordered-map.ts';
import { MUTANTS, PROOF } from './list.ts';
import { loadStore } from './load.ts';
import { type Mutant, mutantSource, mutate } from './mutate.ts';
import { mutantsPlugin } from './plugin.ts';

const ROOT = join(import.meta.dirname, '../../..');
const ORDER = 'bucketstore/base/order.ts';

/** A module of the store as a mutant. The query keeps the compiler from knowing its type. */
async function mutated<T>(file: string, name: string = PROOF.name): Promise<T> {
  const specifier = `../../../${file}?mutant=${name}`;
  return (await import(specifier)) as T;
}

describe('a module imported as a mutant', () => {
  test('is edited, and the same module without it is not', async () => {
    const order = await mutated<{ compareUtf8: typeof compareUtf8 }>(ORDER);
    expect(Math.sign(order.compareUtf8('a', 'b'))).toBe(1);
    expect(Math.sign(compareUtf8('a', 'b'))).toBe(-1);
  });

  test('imports mutants of the store in its turn', async () => {
    type Maps = { readonly OrderedMap: typeof OrderedMap };
    const namesIn = (maps: Maps): readonly string[] => {
      const map = maps.OrderedMap.byText<number>();
      for (const [index, name] of ['b', 'a', 'c'].entries()) map.set(name, index);
      return [...map.from()].map(([name]) => name);
    };
    const module = await mutated<Maps>('bucketstore/snapshot/ordered-map.ts');
    expect(module.OrderedMap).not.toBe(OrderedMap);
    expect(namesIn(module)).toEqual(['c', 'b', 'a']);
    expect(namesIn({ OrderedMap })).toEqual(['a', 'b', 'c']);
  });

  test('is one instance, however it is reached', async () => {
    type Order = { readonly compareUtf8: typeof compareUtf8 };
    expect(await mutated<Order>(ORDER)).toBe(await mutated<Order>(ORDER));
  });

  test('of an unknown mutant is none', async () => {
    await expect(mutated(ORDER, 'nobody')).rejects.toThrow('no mutant is named "nobody"');
  });
});

describe('`loadStore()`', () => {
  test('gives the store, and beside it a mutant of all of it', async () => {
    const sound = await loadStore(null);
    const broken = await loadStore(PROOF.name);
    expect(broken.openWorld).toBeTypeOf('function');
    expect(broken.openWorld).not.toBe(sound.openWorld);
    expect(await loadStore(null)).toBe(sound);
  });

  test('never gives the sound store for a mutant', async () => {
    await expect(loadStore('nobody')).rejects.toThrow('no mutant is named "nobody"');
  });
});

describe('the plugin', () => {
  const edited = (edit: Partial<Mutant['edits'][number]>): Mutant => ({
    ...PROOF,
    edits: PROOF.edits.slice(0, 1).map((one) => ({ ...one, ...edit })),
  });

  test.each([
    ['once', { find: 'return nothing' }, 'has no "return nothing"'],
    ['only once', { find: 'codePointRank' }, /has \d times "codePointRank"/],
    ['in a file that is there', { file: 'bucketstore/base/gone.ts' }, 'gone.ts cannot be read'],
    ['in the store', { file: 'blob/order.ts' }, 'blob/order.ts is shared by all'],
  ])('refuses a mutant whose text does not occur %s, in whatever file', (_, edit, problem) => {
    const plugin = mutantsPlugin(ROOT, [edited(edit)]);
    for (const file of [ORDER, 'bucketstore/base/uuid.ts', 'test/sim/store.ts']) {
      const load = () => plugin.load(`${ROOT}/${file}?mutant=${PROOF.name}`);
      expect(load).toThrow(problem);
      expect(load).toThrow(`mutant ${PROOF.name}: `);
    }
  });

  test('names the mutant and the file', () => {
    const plugin = mutantsPlugin(ROOT, [edited({ find: 'return nothing' })]);
    const load = () => plugin.load(`${ROOT}/${ORDER}?mutant=${PROOF.name}`);
    expect(load).toThrow(`mutant ${PROOF.name}: ${ORDER} has no`);
  });

  test('shares what lies outside the store, and leaves other imports alone', () => {
    const plugin = mutantsPlugin(ROOT, [PROOF]);
    const importer = `${ROOT}/bucketstore/log/log.ts?mutant=${PROOF.name}`;
    const resolved = (source: string): string | null => plugin.resolveId(source, importer);
    expect(resolved('./slot.ts')).toBe(`${ROOT}/bucketstore/log/slot.ts?mutant=${PROOF.name}`);
    expect(resolved('../../blob/index.ts')).toBe(`${ROOT}/blob/index.ts`);
    expect(resolved('../../test/log/values.ts')).toBe(`${ROOT}/test/log/values.ts`);
    expect(resolved('node:fs')).toBeNull();
    expect(plugin.resolveId('./slot.ts', `${ROOT}/bucketstore/log/log.ts`)).toBeNull();
    expect(plugin.resolveId('./slot.ts', undefined)).toBeNull();
    expect(plugin.load(`${ROOT}/${ORDER}`)).toBeNull();
  });

  test('puts text in as it is, and only where it was found', () => {
    const [edit] = PROOF.edits;
    const mutant = edited({ find: 'b', replace: "$& $' $1" });
    expect(mutate(mutant, edit?.file ?? '', 'abc')).toBe("a$& $' $1c");
    expect(mutate(mutant, 'another.ts', 'abc')).toBe('abc');
  });
});

test.each([PROOF, ...MUTANTS].map((mutant) => [mutant.name, mutant] as const))(
  'the edits of %s fit the source as it is',
  (name, mutant) => {
    expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect([PROOF, ...MUTANTS].filter((other) => other.name === name)).toEqual([mutant]);
    expect(mutant.edits.length).toBeGreaterThan(0);
    const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
    for (const { file } of mutant.edits) {
      const id = `${ROOT}/${file}?mutant=${name}`;
      expect(mutantSource([mutant], ROOT, id, read)).not.toContain(read(file));
    }
  },
);
