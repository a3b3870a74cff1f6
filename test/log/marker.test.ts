/**
 * Goal: `head.json` is recognised for what it is, and a wrong one never passes for a marker.
 * Method: markers through bytes and back; heads of other formats; hand-made damage (damage of every
 * field is in `strict.test.ts`).
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { FORMAT, SCHEMA, unsupportedFormat } from '../../bucketstore/log/format.ts';
import {
  decodeMarker,
  encodeMarker,
  genesisMarker,
  recogniseHead,
} from '../../bucketstore/log/marker.ts';
import { MARKER_KEY } from '../../bucketstore/log/names.ts';
import type { Start } from '../../bucketstore/log/records.ts';
import { refusal } from './forge.ts';
import { hashOf, INCARNATION, WORLD } from './values.ts';

const head = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
const started = (start: Partial<Start>): Uint8Array =>
  encodeMarker({
    ...genesisMarker(WORLD, INCARNATION),
    start: { ...genesisMarker(WORLD, INCARNATION).start, ...start },
  });

describe('marker', () => {
  test('of a new world says that nothing came before', () => {
    const marker = genesisMarker(WORLD, INCARNATION);
    expect(marker.start).toEqual({ sequence: 1, documents: 0, epoch: 1, root: null });
    expect(recogniseHead(encodeMarker(marker))).toEqual({ kind: 'marker', marker });
  });

  test('decode then encode gives the same bytes', () => {
    const root = fc.option(fc.stringMatching(/^[0-9a-f]{64}$/));
    const start = fc
      .record({
        sequence: fc.integer({ min: 1, max: 2 ** 53 - 1 }).map(sequence),
        documents: fc.integer({ min: 0, max: 16_777_216 }),
        epoch: fc.integer({ min: 1, max: 0xffff_ffff }),
        hash: root,
      })
      .map(({ hash, documents, ...rest }) =>
        hash === null
          ? { ...rest, documents: 0, root: null }
          : { ...rest, documents, root: { epoch: rest.epoch, hash } },
      );
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), start, (worldId, incarnationId, at) => {
        const bytes = encodeMarker({ worldId, incarnationId, start: at });
        const marker = decodeMarker(bytes);
        expect(marker).toEqual({ worldId, incarnationId, start: at });
        expect(Buffer.compare(encodeMarker(marker), bytes)).toBe(0);
      }),
      { numRuns: 300, seed: 4 },
    );
  });

  test('is not made of what it cannot hold', () => {
    expect(() => encodeMarker(genesisMarker('world', INCARNATION))).toThrow(InvariantError);
    const wrong: Partial<Start>[] = [
      { documents: 1 },
      { epoch: 0 },
      { root: { epoch: 2, hash: hashOf(1) } },
      { root: { epoch: 1, hash: 'x' } },
    ];
    for (const start of wrong) expect(() => started(start)).toThrow(InvariantError);
  });
});

describe('`recogniseHead()`', () => {
  test('knows the head of schema 1, whatever else it says', () => {
    const old = { schema: 1, world_id: WORLD, sequence: 1, root: {}, receipts: [{ path: '/a' }] };
    expect(recogniseHead(head(old))).toEqual({ kind: 'schema-1', worldId: WORLD });
    expect(recogniseHead(head({ schema: 1, world_id: 'x' }))).toEqual({
      kind: 'schema-1',
      worldId: null,
    });
  });

  test('knows what is newer, and the refusal names both versions', () => {
    const newer = { kind: 'newer', schema: 3, format: null };
    expect(recogniseHead(head({ schema: 3, anything: [1] }))).toEqual(newer);
    const found = recogniseHead(head({ schema: SCHEMA, format: FORMAT + 1, more: true }));
    expect(found).toEqual({ kind: 'newer', schema: 2, format: 2 });
    const { code, message } = unsupportedFormat(MARKER_KEY, 2, 2);
    expect(code).toBe('UNSUPPORTED_FORMAT');
    expect(message).toContain('schema 2, format 2');
    expect(message).toContain('schema 2, format 1');
  });

  test('names a field that this format does not have', () => {
    const marker = JSON.parse(Buffer.from(started({})).toString());
    const error = refusal(MARKER_KEY, () => recogniseHead(head({ ...marker, colour: 'red' })));
    expect(error.message).toContain('colour: unknown field');
  });

  test.each([
    ['nothing', ''],
    ['a cut object', '{"schema":2,"format":1,"wor'],
    ['another value', '[]'],
    ['a page of a proxy', '<html>busy</html>'],
    ['schema 0', '{"schema":0}'],
    ['a schema in words', '{"schema":"2"}'],
    ['a schema that is no integer', '{"schema":2.5}'],
    ['no schema', '{"format":1}'],
    ['a format below 1', '{"schema":2,"format":0}'],
    ['deep nesting', `{"schema":1,"a":${'['.repeat(90_000)}`],
  ])('refuses %s', (_, text) => {
    refusal(MARKER_KEY, () => recogniseHead(Buffer.from(text)));
  });
});
