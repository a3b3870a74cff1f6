/** Which formats this code speaks, and how it says that it does not speak another. */
import { StoreError } from '../base/errors.ts';

/** The layout of a location: 1 is the old one with a head that is replaced, 2 is the log. */
export const SCHEMA = 2;
/** The format of the objects of schema 2; a changed format has a higher number. */
export const FORMAT = 1;

/** What to do about a world of the old format, as long as nothing moves it. */
export const SCHEMA_1_ADVICE: string =
  'bucketstore verify and stat read it; nothing moves it to schema 2 yet, so its old servers ' +
  'stay in use';

/**
 * The refusal of an object of a newer format, made before anything of it is believed.
 * @param format null where the object does not say
 */
export function unsupportedFormat(
  object: string,
  schema: number,
  format: number | null,
): StoreError {
  const found = format === null ? `schema ${schema}` : `schema ${schema}, format ${format}`;
  return new StoreError(
    'UNSUPPORTED_FORMAT',
    `${object}: is of ${found}; this version reads schema ${SCHEMA}, format ${FORMAT}`,
    { details: { object, schema } },
  );
}

/**
 * The refusal of a world other than the one that was asked for.
 * @param found the world at the location
 */
export function otherWorld(location: string, found: string, asked: string): StoreError {
  return new StoreError(
    'LOCATION',
    `${location} holds world ${found}, not ${asked}; name the right location`,
  );
}
