/**
 * Goal: no object of schema 1 with one field damaged passes for a good one. Method: every place of
 * a good object of each kind, damaged in every way below, by a fixed seed where they are too many.
 * Under its old key, an object addressed by its hash is always refused. Under the key that its new
 * bytes have, as if somebody had written it so, it is refused unless the damage makes another good
 * object, and which those are is listed; then it says what was put in. The model of the old store,
 * which shares no code with the decoders, judges the same.
 */
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { isStoreError } from '../../bucketstore/base/errors.ts';
import { refusal } from '../log/forge.ts';
import { TOKENS } from '../log/fuzz.ts';
import * as model from '../schema1/decode.ts';
import { OldStoreError } from '../schema1/error.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { damagesOf } from './damages.ts';
import {
  CHANGES,
  HEAD,
  HISTORY,
  KINDS,
  type Kind,
  MANIFEST,
  ROOT,
  refused,
  SHARD_KIND,
} from './schema1-values.ts';

/** Only a root, with its 256 shards, has more places than these. */
const DAMAGES_MAX = 2000;
const SAMPLE = 200;

/** What may be done to a kind of object without making it wrong. */
const HARMLESS: ReadonlyMap<Kind, readonly RegExp[]> = new Map([
  [
    HEAD,
    [
      /^change world_id$/,
      /^change receipts\[\d+\]\.(operation_id|path|agent|version|hash)$/,
      /^drop receipts\[\d+\]\.agent$/,
    ],
  ],
  [
    CHANGES,
    [
      /^change receipts\[\d+\]\.(operation_id|path|agent|version|hash)$/,
      /^drop receipts\[\d+\]\.agent$/,
    ],
  ],
  [ROOT, [/^change document_count$/]],
  [
    SHARD_KIND,
    [
      /^drop entries\[\d\]$/,
      /^change entries\[\d\]\.(current|archived|body_hash)$/,
      /^(change|drop) entries\[\d\]\.catalog\.metadata\.owner$/,
      /^drop entries\[\d\]\.catalog\.metadata\.title$/,
      // It has no metadata, so its title is its own.
      /^change entries\[0\]\.catalog\.title$/,
    ],
  ],
  [MANIFEST, [/^change (archived|history\[0\]\.first)$/, /^drop history\[0\]$/]],
  [HISTORY, [/^change (path_hash|entries\[\d\]\.(body_hash|modified))$/]],
]);

describe.each(KINDS.map((kind) => [kind.name, kind] as const))('a damaged %s', (_, kind) => {
  const text = Buffer.from(kind.bytes).toString();
  const all = damagesOf(text);
  const random = new SeededRandom(1);
  const damages =
    all.length <= DAMAGES_MAX ? all : Array.from({ length: SAMPLE }, () => random.pick(all));
  const isHarmless = (what: string) => HARMLESS.get(kind)?.some((known) => known.test(what));

  test('is damaged in many ways', () => {
    expect(damages.length).toBeGreaterThan(150);
    expect(damages.filter((damage) => damage.text() === text)).toEqual([]);
    const ways = new Set(damages.map(({ what }) => what.split(' ')[0]));
    expect([...ways].sort()).toEqual(['add', 'change', 'drop', 'null', 'repeat', 'retype', 'swap']);
  });

  test('is refused, or says just what was put in', () => {
    const found = new Set<string>();
    for (const damage of damages) {
      const bytes = Buffer.from(damage.text());
      const under = kind.keyOf(bytes);
      if (isHarmless(damage.what) !== true) {
        expect(refused(kind, damage.text()), damage.what).not.toBe('');
        continue;
      }
      // A change within what is harmless may go too far: `56Z` to `56[`.
      const decoded = answer(() => kind.decode(under, bytes));
      if (decoded === undefined) continue;
      found.add(damage.what);
      expect(Buffer.from(kind.encode(decoded as never)).toString(), damage.what).toBe(
        damage.text(),
      );
    }
    // None is on the list for nothing.
    const listed = new Set(all.map(({ what }) => what).filter(isHarmless));
    if (damages === all) expect([...found].sort()).toEqual([...listed].sort());
  });
});

const addressed = KINDS.filter(
  (kind) => kind.keyOf(Buffer.from('other')) !== kind.keyOf(kind.bytes),
);

describe.each(addressed.map((kind) => [kind.name, kind] as const))('a damaged %s', (_, kind) => {
  test('is refused under the key of the good one, harmless or not', () => {
    const random = new SeededRandom(2);
    const damages = damagesOf(Buffer.from(kind.bytes).toString());
    for (let i = 0; i < SAMPLE; i++) {
      const key = kind.keyOf(kind.bytes);
      refusal(key, () => kind.decode(key, Buffer.from(random.pick(damages).text())));
    }
  });
});

function answer(decode: () => unknown): unknown {
  try {
    return decode();
  } catch (error) {
    if (isStoreError(error) && error.code === 'INTEGRITY') return undefined;
    throw error;
  }
}

/** How the model of the old store reads bytes of a kind, whatever they are of. */
const MODEL: readonly [Kind, (bytes: Uint8Array) => unknown][] = [
  [HEAD, model.decodeHead],
  [CHANGES, (bytes) => model.decodeChangeBlock(1, CHANGES.keyOf(bytes), bytes)],
  [ROOT, (bytes) => model.decodeRoot(sha256Hex(bytes), bytes)],
  [SHARD_KIND, (bytes) => model.decodeShard(0x1d, sha256Hex(bytes), bytes)],
];

describe.each(MODEL.map(([kind, read]) => [kind.name, kind, read] as const))(
  'a damaged %s',
  (_, kind, read) => {
    test('is refused when the model of the old store refuses it, and only then', () => {
      const random = new SeededRandom(3);
      // Its callers compare the world.
      const damages = damagesOf(Buffer.from(kind.bytes).toString()).filter(
        ({ what }) => what !== 'change world_id',
      );
      for (let i = 0; i < SAMPLE * 2; i++) {
        const { what, text } = random.pick(damages);
        const bytes = Buffer.from(text());
        const ours = answer(() => kind.decode(kind.keyOf(bytes), bytes)) !== undefined;
        expect(
          modelReads(() => read(bytes)),
          what,
        ).toBe(ours);
      }
    });
  },
);

describe.each(KINDS.map((kind) => [kind.name, kind] as const))('bytes near a %s', (_, kind) => {
  test('are refused as damage, or are another good one', () => {
    const random = new SeededRandom(4);
    for (let i = 0; i < SAMPLE * 2; i++) {
      const at = random.integer(kind.bytes.length);
      const skipped = random.integer(3) * random.integer(30);
      const put = random.integer(2) === 0 ? random.pick(TOKENS) : '';
      const bytes = Buffer.concat([
        kind.bytes.subarray(0, at),
        Buffer.from(put),
        kind.bytes.subarray(at + skipped),
      ]);
      const decoded = answer(() => kind.decode(kind.keyOf(bytes), bytes));
      if (decoded === undefined) continue;
      const spelled = Buffer.from(kind.encode(decoded as never)).toString();
      expect(spelled).toBe(bytes.toString().replace('\\u0008', '\\b'));
    }
  });
});

function modelReads(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof OldStoreError) return false;
    throw error;
  }
}
