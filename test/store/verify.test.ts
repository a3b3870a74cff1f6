/**
 * Goal: verification finds what is wrong with a world and names the object, and finds nothing where
 * nothing is. Method: a world with every kind of object; each is removed or has a byte changed, or
 * a slot is put in its place that is valid by itself and says something that is not so.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { type VerifyOptions, type VerifyReport, verifyWorld } from '../../bucketstore/index.ts';
import { sliceInlined } from '../../bucketstore/log/bodies.ts';
import type { Entry, WriteEntry } from '../../bucketstore/log/records.ts';
import { decodeSlot, encodeSlot } from '../../bucketstore/log/slot.ts';
import { damageWorld } from './damage-world.ts';

const { bench, objects, marker, slots, blobs } = await damageWorld();

afterEach(async () => {
  for (const key of await bench.keys()) if (!objects.has(key)) await bench.bucket.delete(key);
  for (const [key, bytes] of objects) await bench.put(key, bytes);
});

function verify(options: VerifyOptions = {}): Promise<VerifyReport> {
  const { clock, random, bucket } = bench;
  return bench.run(verifyWorld('memory:', { components: { clock, random, bucket }, ...options }));
}

function objectsOf(report: VerifyReport): readonly string[] {
  return report.problems.map(({ object }) => object);
}

async function flip(key: string, at: number): Promise<void> {
  const bytes = (await bench.bytes(key)).slice();
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await bench.put(key, bytes);
}

/** Puts a slot in the place of the newest that differs in its one entry and body. */
async function replaceNewest(
  change: (entry: WriteEntry, stored: string) => { entry?: Partial<WriteEntry>; stored?: string },
): Promise<void> {
  const before = await bench.bytes(slots.newest);
  const { slot } = decodeSlot(slots.newest, before);
  const [entry] = slot.entries;
  const [inlined] = slot.inlined;
  if (entry?.kind !== 'write' || inlined === undefined) throw new Error('one write, inlined');
  const text = Buffer.from(sliceInlined(before, inlined)).toString('utf8');
  const { entry: fields = {}, stored = text } = change(entry, text);
  const storedHash = sha256Hex(stored);
  const entries: readonly Entry[] = [{ ...entry, storedHash, ...fields }];
  const { bytes } = encodeSlot({
    ...slot,
    entries,
    bodies: [{ sequence: inlined.sequence, bytes: Buffer.from(stored) }],
  });
  await bench.put(slots.newest, bytes);
}

describe('verifyWorld()', () => {
  it('finds nothing in a world where all is right, and counts what it checked', async () => {
    const seen: number[] = [];
    const report = await verify({ deep: true, onProgress: ({ slots }) => seen.push(slots) });
    const names = Object.values(slots);
    const decoded = names.map((key) => decodeSlot(key, objects.get(key) ?? new Uint8Array()).slot);
    expect(report).toMatchObject({
      slots: names.length,
      entries: decoded.reduce((sum, { entries }) => sum + entries.length, 0),
      inlined: decoded.reduce((sum, { inlined }) => sum + inlined.length, 0),
      blobs: blobs.length,
      sequence: decoded.at(-1)?.last,
      documents: decoded.at(-1)?.documents,
      strays: [],
      problems: [],
      problemCount: 0,
    });
    expect(seen.at(-1)).toBe(names.length);
    expect(await verify()).toEqual({ ...report, deep: false });
  });

  it.each([...objects.keys()].filter((key) => key !== slots.newest))(
    'names %s when it is gone',
    async (key) => {
      await bench.bucket.delete(key);
      expect(objectsOf(await verify())).toContain(key);
    },
  );

  it.each([...objects.keys()])('names %s when a byte of it is another', async (key) => {
    const length = objects.get(key)?.byteLength ?? 0;
    for (const at of [0, Math.floor(length / 2), length - 1]) {
      await flip(key, at);
      expect(objectsOf(await verify({ deep: true }))).toContain(key);
      await flip(key, at);
    }
    expect(objectsOf(await verify({ deep: true }))).toEqual([]);
  });

  it('goes on behind a broken slot, and names what else is broken by itself', async () => {
    await flip(slots.staged, 100);
    await flip(slots.newest, 100);
    const report = await verify();
    expect(objectsOf(report)).toEqual([slots.staged, slots.newest]);
    expect(report.slots).toBe(Object.keys(slots).length - 2);
  });

  it('sees without reading it that a blob is empty', async () => {
    const [blob = ''] = blobs;
    await bench.put(blob, '');
    expect(objectsOf(await verify())).toEqual([blob]);
  });

  it('names what lies under log/ and is no slot', async () => {
    await bench.put('_demarkus/v1/log/notes.txt', 'x');
    expect(objectsOf(await verify())).toEqual(['_demarkus/v1/log/notes.txt']);
  });

  it('tells of a slot name inside the range of another without calling it wrong', async () => {
    const { slot } = decodeSlot(slots.inlined, await bench.bytes(slots.inlined));
    expect(slot.last).toBeGreaterThan(slot.first);
    const stray = `_demarkus/v1/log/${slot.last.toString(16).padStart(16, '0')}.slot`;
    await bench.put(stray, 'whatever');
    expect(await verify()).toMatchObject({ strays: [stray], problems: [], problemCount: 0 });
  });

  it.each<[string, Parameters<typeof replaceNewest>[0]]>([
    [
      'a title that is not the body’s',
      ({ catalog }) => ({ entry: { catalog: { ...catalog, title: 'Another' } } }),
    ],
    [
      'metadata that is not the stored version’s',
      ({ catalog }) => ({ entry: { catalog: { ...catalog, metadata: { retention: '8' } } } }),
    ],
    ['a body hash that is not the body’s', () => ({ entry: { bodyHash: sha256Hex('another') } })],
    [
      'another version before it',
      (_, stored) => ({
        stored: stored.replace(/sha256-[0-9a-f]{64}/, `sha256-${'0'.repeat(64)}`),
      }),
    ],
    [
      'another version in its bytes',
      (_, stored) => ({ stored: stored.replace('version: 2', 'version: 3') }),
    ],
    ['bytes that are no stored version', () => ({ stored: 'just text' })],
  ])('names a slot that says %s', async (_, change) => {
    await replaceNewest(change);
    const report = await verify();
    expect(objectsOf(report)).toEqual([slots.newest]);
    expect(report.problemCount).toBe(1);
  });

  it('accepts that very slot when nothing of it is changed', async () => {
    await replaceNewest(() => ({}));
    expect(await verify()).toMatchObject({ problems: [] });
  });

  it('refuses a place without a world, and leaves a newer format alone', async () => {
    for (const key of objects.keys()) await bench.bucket.delete(key);
    await expect(verify()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await bench.put(marker, '{"schema":3}');
    await expect(verify()).rejects.toMatchObject({ code: 'UNSUPPORTED_FORMAT' });
  });
});
