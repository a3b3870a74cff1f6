/**
 * The marker, `head.json`: it makes a location a world, and holds the world's first checkpoint.
 *
 * LAYOUT. One line of canonical JSON without a newline:
 *
 *     { schema: 2, format: 1, world_id, incarnation_id,
 *       start: { sequence, documents, epoch, root: { epoch, hash } or null }, check }
 *
 * VALIDITY. Exactly these fields; schema 2 and format 1; IDs are UUIDs; `check` is the SHA-256 of
 * the canonical JSON without `check`. A start without a root is empty: sequence 1 or more, no
 * documents. One with a root was written under the start's own epoch.
 *
 * READER. `recogniseHead` first, which also knows the head of schema 1 and whatever is newer. An
 * old replica that meets a marker fails closed, because `schema` is not 1.
 *
 * WHY. It carries its own checksum because nothing names it by hash. It is created once (I2) and
 * never on the commit path, so it is no hot object.
 */
import { assert } from '../base/assert.ts';
import { canonicalText, type Json } from '../base/canonical.ts';
import { sha256Hex } from '../base/digest.ts';
import { integrityError } from '../base/errors.ts';
import { sequence } from '../base/sequence.ts';
import { isUuid } from '../base/uuid.ts';
import { readSequence } from './control.ts';
import { hashProblem, rangeProblem, uuidProblem } from './entry-rules.ts';
import { FORMAT, SCHEMA } from './format.ts';
import { EPOCH_MAX, MARKER_KEY } from './names.ts';
import { DOCUMENTS_MAX, type Marker, type Start } from './records.ts';
import {
  assertCanonical,
  Fields,
  type JsonBounds,
  type ParsedJson,
  parseStrict,
} from './strict.ts';

/** What `head.json` turned out to be. */
export type Head =
  | { readonly kind: 'marker'; readonly marker: Marker }
  /** The head of a world in the old format. Nothing of it is checked here but its ID's form. */
  | { readonly kind: 'schema-1'; readonly worldId: string | null }
  /** Written by newer code: `unsupportedFormat` refuses it. */
  | { readonly kind: 'newer'; readonly schema: number; readonly format: number | null };

/** A schema 1 head holds 16 receipts with a path each; a marker is far smaller. */
const BOUNDS: JsonBounds = { bytesMax: 1_048_576, depthMax: 16, commasMax: 1024 };

/** The marker of a new, empty world. */
export function genesisMarker(worldId: string, incarnationId: string): Marker {
  const start = { sequence: sequence(1), documents: 0, epoch: 1, root: null };
  return { worldId, incarnationId, start };
}

/**
 * The bytes of a marker. A pure function.
 * @throws InvariantError when the marker breaks a rule of the format
 */
export function encodeMarker(marker: Marker): Uint8Array {
  const problem = markerProblem(marker);
  assert(problem === null, () => `marker: ${problem}`);
  return new TextEncoder().encode(markerText(marker));
}

/**
 * What the bytes of `head.json` are. One that is of no known or newer format is damaged.
 * @throws StoreError INTEGRITY
 */
export function recogniseHead(bytes: Uint8Array): Head {
  const parsed = parseStrict(MARKER_KEY, bytes, BOUNDS);
  const head = new Fields(MARKER_KEY, '', parsed.value);
  const schema = head.integer('schema');
  if (schema === 1) {
    const worldId = head.has('world_id') ? head.json('world_id') : null;
    return {
      kind: 'schema-1',
      worldId: typeof worldId === 'string' && isUuid(worldId) ? worldId : null,
    };
  }
  const format = head.has('format') ? head.json('format') : null;
  const known = typeof format === 'number' && Number.isSafeInteger(format) ? format : null;
  if (schema > SCHEMA) return { kind: 'newer', schema, format: known };
  if (schema < SCHEMA) throw integrityError(MARKER_KEY, `schema: ${schema} is none`);
  if (known !== null && known > FORMAT) return { kind: 'newer', schema, format: known };
  return { kind: 'marker', marker: decodeParsed(parsed) };
}

/**
 * The marker that bytes hold.
 * @throws StoreError INTEGRITY unless they are a valid marker of this very format
 */
export function decodeMarker(bytes: Uint8Array): Marker {
  return decodeParsed(parseStrict(MARKER_KEY, bytes, BOUNDS));
}

function decodeParsed({ text, value }: ParsedJson): Marker {
  const fields = new Fields(MARKER_KEY, '', value);
  for (const [name, expected] of [
    ['schema', SCHEMA],
    ['format', FORMAT],
  ] as const) {
    const found = fields.integer(name);
    if (found !== expected) fields.fail(name, `${found} is not ${expected}`);
  }
  const marker: Marker = {
    worldId: fields.string('world_id'),
    incarnationId: fields.string('incarnation_id'),
    start: readStart(fields.object('start')),
  };
  const check = fields.string('check');
  fields.end();
  const problem = markerProblem(marker);
  if (problem !== null) return fields.refuse(problem);
  const body = markerJson(marker);
  if (check !== sha256Hex(canonicalText(body))) {
    return fields.fail('check', 'not the checksum of the rest');
  }
  assertCanonical(MARKER_KEY, text, markerText(marker));
  return marker;
}

function readStart(fields: Fields): Start {
  const root = fields.json('root') === null ? null : readRoot(fields.object('root'));
  const start = {
    sequence: readSequence(fields, 'sequence'),
    documents: fields.integer('documents'),
    epoch: fields.integer('epoch'),
    root,
  };
  fields.end();
  return start;
}

function readRoot(fields: Fields): { readonly epoch: number; readonly hash: string } {
  const root = { epoch: fields.integer('epoch'), hash: fields.string('hash') };
  fields.end();
  return root;
}

function markerProblem({ worldId, incarnationId, start }: Marker): string | null {
  const { root } = start;
  return (
    uuidProblem('world_id', worldId) ??
    uuidProblem('incarnation_id', incarnationId) ??
    rangeProblem('start.sequence', start.sequence, 1, Number.MAX_SAFE_INTEGER) ??
    rangeProblem('start.documents', start.documents, 0, root === null ? 0 : DOCUMENTS_MAX) ??
    rangeProblem('start.epoch', start.epoch, 1, EPOCH_MAX) ??
    (root === null
      ? null
      : (rangeProblem('start.root.epoch', root.epoch, start.epoch, start.epoch) ??
        hashProblem('start.root.hash', root.hash)))
  );
}

function markerText(marker: Marker): string {
  const body = markerJson(marker);
  return canonicalText({ ...body, check: sha256Hex(canonicalText(body)) });
}

function markerJson({ worldId, incarnationId, start }: Marker): { readonly [name: string]: Json } {
  const { documents, epoch, root } = start;
  return {
    schema: SCHEMA,
    format: FORMAT,
    world_id: worldId,
    incarnation_id: incarnationId,
    start: {
      sequence: start.sequence,
      documents,
      epoch,
      root: root === null ? null : { epoch: root.epoch, hash: root.hash },
    },
  };
}
