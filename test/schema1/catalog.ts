/** What the old store's listings know of a document: its record in the shard. */
import { demand } from './error.ts';
import { metadataProblem, type OldMetadata, splitTags, trimGo } from './stored.ts';

export interface OldCatalog {
  readonly path: string;
  readonly title: string;
  readonly tags: readonly string[];
  /** Shortest decimal of a number of 0 to 1. */
  readonly importance: string;
  readonly modified: string;
  /** As the writer spelled them; empty when there are none. */
  readonly metadata: OldMetadata;
}

const IMPORTANCE_DEFAULT = 0.5;

/** The record of a version. */
export function catalogOf(
  path: string,
  modified: string,
  metadata: OldMetadata,
  body: Uint8Array,
): OldCatalog {
  const title = titleOf(path, metadata, body);
  const tags = splitTags(metadata.get('tags') ?? '');
  return { path, title, tags, importance: importanceOf(metadata), modified, metadata };
}

/** Refuses a record that is not consistent with itself. */
export function checkCatalog(object: string, catalog: OldCatalog): void {
  const { title, tags, importance, metadata } = catalog;
  const problem = metadataProblem(metadata);
  demand(problem === null, object, `metadata: ${problem}`);
  demand(title !== '', object, 'has no title');
  const given = trimGo(metadata.get('title') ?? '');
  demand(given === '' || given === title, object, 'has another title than its metadata');
  const expected = splitTags(metadata.get('tags') ?? '');
  const same = tags.length === expected.length && tags.every((tag, i) => tag === expected[i]);
  demand(same, object, 'has other tags than its metadata');
  demand(importance === importanceOf(metadata), object, `importance ${importance}`);
}

/** The title in the metadata, or the first heading of the body, or the name of the file. */
function titleOf(path: string, metadata: OldMetadata, body: Uint8Array): string {
  const given = trimGo(metadata.get('title') ?? '');
  if (given !== '') return given;
  return headingOf(Buffer.from(body).toString()) ?? path.slice(path.lastIndexOf('/') + 1);
}

/** The first level-1 heading outside fences. What stands before its text, after `# `, stays. */
function headingOf(body: string): string | null {
  let fenced = false;
  for (const line of body.split('\n')) {
    const trimmed = trimGo(line);
    if (trimmed.startsWith('```') || trimmed.startsWith('~~~')) fenced = !fenced;
    const heading = fenced ? null : /^ {0,3}# (.*)$/s.exec(line.replace(/\r$/, ''));
    if (heading?.[1] !== undefined && trimGo(heading[1]) !== '') return heading[1];
  }
  return null;
}

/** The importance that metadata give, as Go parses and prints a number. */
function importanceOf(metadata: OldMetadata): string {
  const text = trimGo(metadata.get('importance') ?? '');
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : -1;
  return shortest(number >= 0 && number <= 1 ? number : IMPORTANCE_DEFAULT);
}

/** The fewest digits that give the number back, without an exponent. @param number 0 to 1 */
function shortest(number: number): string {
  const [digits = '', exponent] = String(Math.abs(number)).split('e-');
  if (exponent === undefined) return digits;
  return `0.${'0'.repeat(Number(exponent) - 1)}${digits.replace('.', '')}`;
}
