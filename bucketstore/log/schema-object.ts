/**
 * How each JSON object of the bucket begins: one strict value, of the schema that this code speaks.
 */
import { SCHEMA, unsupportedFormat } from './format.ts';
import { Fields, type JsonBounds, parseStrict } from './strict.ts';

/** An object whose `schema` has been read; the rest is its decoder's. */
export interface SchemaObject {
  /** To compare with what was understood of it, encoded again. */
  readonly text: string;
  readonly fields: Fields;
}

/**
 * The object that the bytes of `key` spell, or a part of them.
 * @throws StoreError INTEGRITY naming `key` unless they are one of this schema; UNSUPPORTED_FORMAT
 *   for a newer one, before anything else of it is believed
 */
export function readSchemaObject(key: string, bytes: Uint8Array, bounds: JsonBounds): SchemaObject {
  const { text, value } = parseStrict(key, bytes, bounds);
  const fields = new Fields(key, '', value);
  const schema = fields.integer('schema');
  if (schema > SCHEMA) throw unsupportedFormat(key, schema, null);
  if (schema < SCHEMA) fields.fail('schema', `${schema} is not ${SCHEMA}`);
  return { text, fields };
}
