/**
 * The catalog of an entry: what old servers list and look up by.
 *
 * LAYOUT. { path, title, tags: [tag…], importance, modified, metadata: { key: value… } }, the
 * importance in decimal as text.
 *
 * VALIDITY. All but title and metadata is told elsewhere and must agree: path and time with the
 * entry, tags and importance with the metadata, which is as the author spelled it (`go, storage`,
 * ` 0.80 `) and valid. So must the title where the metadata has one; else it is any text that is
 * not empty, of any length.
 *
 * The importance follows from text in decimal, with an exponent or none; any other text, and a
 * number outside 0 to 1, gives the default. The format says no more of what it calls a number, so
 * hexadecimal (`0x1p-2`) and `_` between digits are none here: a record that took one for a number
 * is refused, and its entry named.
 *
 * WHY. In the new format all that follows is left out, tags have one spelling, a retention ends at
 * 2^31 − 1, and a derived title is cut: `normaliseMetadata` and `cutTitle` make the difference.
 */
import type { Catalog } from '../bucketstore/document/catalog.ts';
import { formatDecimal, parseDecimal } from '../bucketstore/document/decimal.ts';
import { checkStoredMetadata, type Metadata, splitTags } from '../bucketstore/document/metadata.ts';
import { trimSpace } from '../bucketstore/document/text.ts';
import { formatTimestamp } from '../bucketstore/document/timestamp.ts';
import type { Fields } from '../bucketstore/log/strict.ts';
import type { GoFields } from './go-json.ts';
import { readTime } from './schema1-object.ts';

const IMPORTANCE_DEFAULT = 0.5;

/** Digits with a point or none, and an exponent or none: 10^−1 may be `1e-1`. */
const SCIENTIFIC = /^([^eE]+)[eE][+-]?[0-9]+$/;

/**
 * The catalog of an entry, its metadata as it is spelled. `schema1CatalogProblem` says whether it
 * is right.
 * @param path the entry's
 * @param modified the entry's
 * @throws StoreError INTEGRITY when a field is not what follows from the others
 */
export function readCatalog(fields: Fields, path: string, modified: number): Catalog {
  if (fields.string('path') !== path) fields.fail('path', 'not the one of its entry');
  if (readTime(fields, 'modified') !== modified) {
    fields.fail('modified', 'not the one of its entry');
  }
  const title = fields.string('title');
  const found = fields.object('metadata').strings();
  const metadata: Metadata | null = Object.keys(found).length === 0 ? null : found;
  const tags = tagsOf(metadata);
  const stored = fields.array('tags');
  if (stored.length !== tags.length || stored.some((tag, index) => tag !== tags[index])) {
    fields.fail('tags', 'not those of its metadata');
  }
  if (fields.string('importance') !== importanceText(metadata)) {
    fields.fail('importance', `not "${importanceText(metadata)}", which its metadata gives`);
  }
  fields.end();
  return { title, metadata };
}

/** What is wrong with a catalog, or null. The problem begins with a field. */
export function schema1CatalogProblem({ title, metadata }: Catalog): string | null {
  if (title === '') return 'title: empty';
  if (!title.isWellFormed()) return 'title: not well-formed text';
  const problem = checkStoredMetadata(metadata);
  if (problem !== null) {
    const field = problem.key === null ? 'metadata' : `metadata.${problem.key}`;
    return `${field}: ${problem.reason}`;
  }
  const given = trimSpace(metadata?.['title'] ?? '');
  return given === '' || given === title ? null : 'title: not that of its metadata';
}

/** A catalog to be spelled. */
export function catalogJson(
  { title, metadata }: Catalog,
  path: string,
  modified: number,
): GoFields {
  return {
    path,
    title,
    tags: tagsOf(metadata),
    importance: importanceText(metadata),
    modified: formatTimestamp(modified),
    metadata: new Map(Object.entries(metadata ?? {})),
  };
}

function tagsOf(metadata: Metadata | null): string[] {
  return splitTags(metadata?.['tags'] ?? '');
}

/** The importance as old servers took it, which knew exponents; the new format does not. */
function importanceText(metadata: Metadata | null): string {
  const text = trimSpace(metadata?.['importance'] ?? '');
  const digits = SCIENTIFIC.exec(text)?.[1] ?? text;
  const number = parseDecimal(digits) === null ? Number.NaN : Number(text);
  // Plus zero makes zero of minus zero.
  return formatDecimal(number >= 0 && number <= 1 ? number + 0 : IMPORTANCE_DEFAULT);
}
