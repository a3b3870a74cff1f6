/**
 * Goal: no bytes make the decoders of packs, history blocks and roots do anything but accept their
 * own encoding or refuse; nothing else is thrown, nothing hangs.
 * Method: damage from one fixed seed, under names and hashes that are right again.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { decodeHistory, encodeHistory, historyKey } from '../../checkpoint/history.ts';
import {
  decodePack,
  decodePackDirectory,
  encodePack,
  type PackRef,
  packKey,
} from '../../checkpoint/pack.ts';
import { decodeRoot, encodeRoot, rootKey } from '../../checkpoint/root.ts';
import { answer, damaged, damages } from '../log/fuzz.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { cutAll, drawInputs, drawRange, drawRoot, EPOCH } from './object-values.ts';

const randoms = fc.integer({ min: 0, max: 2 ** 31 }).map((seed) => new SeededRandom(seed));
const nameOf = (bytes: Uint8Array): { readonly epoch: number; readonly hash: string } => ({
  epoch: EPOCH,
  hash: sha256Hex(bytes),
});

test('a damaged pack is refused, or is another valid pack', () => {
  const property = fc.property(randoms, damages, fc.boolean(), (random, plan, inFront) => {
    const inputs = drawInputs(random, random.pick([1, 2 ** 52]), 1 + random.integer(8), 40);
    const [pack] = cutAll(inputs, 'rewritten');
    if (pack === undefined) return;
    const { length } = pack.ref.directory;
    // Damage in the directory only, half of the time: bodies lie behind it as they were.
    const forged = inFront
      ? Buffer.concat([damaged(pack.bytes.subarray(0, length), plan), pack.bytes.subarray(length)])
      : damaged(pack.bytes, plan);
    const name = nameOf(forged);
    const decoded = answer(packKey(name), () => decodePack(name, forged));
    if (decoded === 'refused') return;
    const versions = [...decoded.directory];
    const again = encodePack(EPOCH, versions, forged.subarray(decoded.ref.directory.length));
    expect(Buffer.compare(again.bytes, forged)).toBe(0);
    expect(again.ref).toEqual(decoded.ref);
  });
  fc.assert(property, { seed: 1, numRuns: 600 });
});

test('a damaged directory of a pack is refused, or is another valid one', () => {
  const property = fc.property(randoms, damages, (random, plan) => {
    const inputs = drawInputs(random, random.pick([1, 2 ** 52]), 1 + random.integer(8), 40);
    const [pack] = cutAll(inputs, 'rewritten');
    if (pack === undefined) return;
    const forged = damaged(pack.bytes.subarray(0, pack.ref.directory.length), plan);
    const directory = { length: forged.length, hash: sha256Hex(forged) };
    const ref: PackRef = { ...pack.ref, directory };
    const decoded = answer(packKey(ref), () => decodePackDirectory(ref, forged));
    if (decoded === 'refused') return;
    for (const version of decoded) expect(decoded.find(version.sequence)).toEqual(version);
  });
  fc.assert(property, { seed: 2, numRuns: 600 });
});

test('a damaged history block is refused, or is another valid block', () => {
  const path = '/a.md';
  const blocks = [1, 2, 3].map((seed) => drawRange(new SeededRandom(seed), 257));
  const property = fc.property(fc.constantFrom(...blocks), damages, (records, plan) => {
    const forged = damaged(encodeHistory(path, records, EPOCH).bytes, plan);
    const ref = { first: 257, ...nameOf(forged) };
    const decoded = answer(historyKey(ref), () => decodeHistory(path, ref, forged));
    if (decoded === 'refused') return;
    expect(Buffer.compare(encodeHistory(path, decoded, EPOCH).bytes, forged)).toBe(0);
  });
  fc.assert(property, { seed: 3, numRuns: 300 });
});

test('a damaged root is refused, or is another valid root', () => {
  const property = fc.property(randoms, damages, (random, plan) => {
    const { root, life } = drawRoot(random);
    const forged = damaged(encodeRoot(root, EPOCH, life).bytes, plan);
    const ref = nameOf(forged);
    const decoded = answer(rootKey(ref), () => decodeRoot(ref, forged, life));
    if (decoded === 'refused') return;
    expect(Buffer.compare(encodeRoot(decoded, EPOCH, life).bytes, forged)).toBe(0);
  });
  fc.assert(property, { seed: 4, numRuns: 500 });
});
