/**
 * Goal: a run manifest gives back what was written, nothing else passes for one, and a path is
 * looked up in the one table that can have it.
 * Method: manifests of drawn runs through bytes and back; members removed, renamed and retyped
 * under a name that is right; manifests that no run has.
 */
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { canonicalText } from '../../bucketstore/base/canonical.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { RunRef } from '../../checkpoint/root.ts';
import {
  decodeRunManifest,
  encodeRunManifest,
  type RunManifest,
  runKey,
  runManifest,
  tableFor,
} from '../../checkpoint/run-manifest.ts';
import type { TableRef } from '../../checkpoint/table-directory.ts';
import { changed, type Loose, placesOf, refusal } from '../log/forge.ts';
import { hashOf } from '../log/values.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { drawEntries, drawPath, EPOCH, runOf, text, utf8 } from './table-values.ts';

const INTERVAL = { after: sequence(1024), through: sequence(2048) };

function drawManifest(seed: number): RunManifest {
  const tables = runOf(drawEntries(new SeededRandom(seed), 100));
  return runManifest(
    'run',
    INTERVAL,
    tables.map(({ ref }) => ref),
  );
}

/** The reference of any bytes. */
function refOf(bytes: Uint8Array): RunRef {
  return { ...INTERVAL, epoch: EPOCH, hash: sha256Hex(bytes) };
}

function refuses(line: string): string {
  const bytes = utf8(line);
  const ref = refOf(bytes);
  return refusal(runKey(ref), () => decodeRunManifest('run', ref, bytes)).message;
}

describe('a run manifest', () => {
  test.each([1, 2, 3])('decode then encode gives the same bytes, seed %i', (seed) => {
    const manifest = drawManifest(seed);
    expect(manifest.objects.length).toBeGreaterThan(3);
    expect(manifest.entries).toBe(100);
    const { bytes, ref } = encodeRunManifest(manifest, EPOCH);
    expect(ref).toEqual(refOf(bytes));
    const decoded = decodeRunManifest('run', ref, bytes);
    expect(decoded).toEqual(manifest);
    expect(text(encodeRunManifest(decoded, EPOCH).bytes)).toBe(text(bytes));
  });

  test('holds nothing for an interval in which nothing changed', () => {
    const empty = runManifest('records', { after: 0, through: sequence(1) }, []);
    const { bytes, ref } = encodeRunManifest(empty, 1);
    expect(text(bytes)).toBe(
      '{"after":0,"entries":0,"kind":"records","objects":[],"schema":2,"through":1}',
    );
    expect(decodeRunManifest('records', ref, bytes)).toEqual(empty);
    expect(tableFor(empty, '/a')).toBe(undefined);
  });

  test('leads each path to the table that can have it', () => {
    const random = new SeededRandom(4);
    const entries = drawEntries(random, 200, 300, 50);
    const tables = runOf(entries);
    const manifest = runManifest(
      'run',
      INTERVAL,
      tables.map(({ ref }) => ref),
    );
    const there = new Map<string, TableRef>();
    let row = 0;
    for (const { ref } of tables) {
      for (const { path } of entries.slice(row, row + ref.entries)) there.set(path, ref);
      row += ref.entries;
    }
    for (const [path, ref] of there) expect(tableFor(manifest, path)).toBe(ref);
    for (let i = 0; i < 200; i++) {
      const path = drawPath(random, 50);
      const found = tableFor(manifest, path);
      if (found === undefined) expect(there.has(path)).toBe(false);
    }
    expect(tableFor(manifest, '/')).toBe(undefined);
    expect(tableFor(manifest, '/\u{10ffff}')).toBe(undefined);
  });

  test('is refused with a member missing, renamed or of another type', () => {
    const { objects } = drawManifest(5);
    const manifest = runManifest('run', INTERVAL, objects.slice(0, 2));
    const members = JSON.parse(text(encodeRunManifest(manifest, EPOCH).bytes)) as Loose;
    for (const path of placesOf(members)) {
      const dropped = changed(members, path, (at, step) =>
        Array.isArray(at) ? at.splice(Number(step), 1) : Reflect.deleteProperty(at, step),
      );
      refuses(canonicalText(dropped));
      const renamed = changed(members, path, (at, step) =>
        Array.isArray(at) ? at.push(0) : Object.assign(at, { [`${step}x`]: 1 }),
      );
      refuses(canonicalText(renamed));
      for (const value of [null, true, '', 1.5, -1, 0, 2 ** 53, [], {}, [[[]]]]) {
        const other = changed(members, path, (at, step) => Object.assign(at, { [step]: value }));
        refuses(JSON.stringify(other));
      }
    }
  });

  test('is refused in another spelling, of an older schema, or cut', () => {
    const line = text(encodeRunManifest(drawManifest(6), EPOCH).bytes);
    const spellings = [
      ` ${line}`,
      `${line}\n`,
      line.replace(',"', ', "'),
      line.replace('"schema":2', '"schema":2,"schema":2'),
      line.replace('"schema":2', '"schema":1'),
      line.replace('{', '{"__proto__":{},'),
      line.slice(0, -1),
      '',
      '[]',
    ];
    for (const spelling of spellings) refuses(spelling);
    const newer = utf8(line.replace('"schema":2', '"schema":3,"zoo":1'));
    expect(() => decodeRunManifest('run', refOf(newer), newer)).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED_FORMAT' }),
    );
  });

  test('is refused with any byte flipped, and beside another reference', () => {
    const { bytes, ref } = encodeRunManifest(drawManifest(7), EPOCH);
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Uint8Array.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      refusal(runKey(ref), () => decodeRunManifest('run', ref, damaged));
    }
    const others: RunRef[] = [
      { ...ref, after: 0 },
      { ...ref, after: sequence(1025) },
      { ...ref, through: sequence(2047) },
      { ...ref, hash: hashOf(1) },
      // Its tables are of a later epoch than this.
      { ...ref, epoch: EPOCH - 1 },
    ];
    for (const other of others) {
      refusal(runKey(other), () => decodeRunManifest('run', other, bytes));
    }
    refusal(runKey(ref), () => decodeRunManifest('records', ref, bytes));
  });

  const [first, second] = drawManifest(8).objects;
  if (first === undefined || second === undefined) throw new RangeError('too few tables');
  const changes: [string, (manifest: RunManifest) => RunManifest, string][] = [
    ['an empty interval', (m) => ({ ...m, after: m.through }), 'after'],
    ['tables in another order', (m) => ({ ...m, objects: [second, first] }), 'objects[1].first'],
    ['a table twice', (m) => ({ ...m, objects: [first, first] }), 'objects[1].first'],
    ['tables that overlap', (m) => with0(m, { last: second.first }), 'objects[1].first'],
    ['a table that ends before it begins', (m) => with0(m, { last: '/ ' }), 'objects[0].last'],
    ['one path in several entries', (m) => with0(m, { last: first.first }), 'objects[0].last'],
    ['another number of entries', (m) => ({ ...m, entries: m.entries + 1 }), 'entries'],
    ['a table of nothing', (m) => with0(m, { entries: 0 }), 'objects[0].entries'],
    ['one entry with two paths', (m) => with0(m, { entries: 1 }), 'objects[0].last'],
    ['a table that is a directory', (m) => with0(m, { bytes: 9 }), 'objects[0].bytes'],
    ['a younger table', (m) => with0(m, { epoch: EPOCH + 1 }), 'objects[0].epoch'],
    ['a path that no document has', (m) => with0(m, { first: '//' }), 'objects[0].first'],
  ];
  function with0(manifest: RunManifest, change: Partial<TableRef>): RunManifest {
    const [head, ...rest] = manifest.objects;
    return { ...manifest, objects: [{ ...(head as TableRef), ...change }, ...rest] };
  }

  test.each(changes)('with %s is neither written nor read', (_, change, field) => {
    const manifest = change(runManifest('run', INTERVAL, [first, second]));
    expect(() => encodeRunManifest(manifest, EPOCH)).toThrow(`run manifest: ${field}: `);
    expect(() => encodeRunManifest(manifest, EPOCH)).toThrow(InvariantError);
    const objects = manifest.objects.map(({ directory, ...rest }) => {
      return { ...rest, directory: [directory.length, directory.hash] };
    });
    const { kind, after, through, entries } = manifest;
    const line = canonicalText({ schema: 2, kind, after, through, entries, objects });
    expect(refuses(line)).toContain(`: ${field}: `);
  });
});
