/**
 * Mutants: the store with one rule broken, to see whether the oracle notices. A mutant is a few
 * edits of source text, so production code has no switch for it.
 */

/** One change of one file. */
export interface Edit {
  /** From the root of the project, as `bucketstore/log/append.ts`. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

export interface Mutant {
  /** Kebab-case: it is part of an import's query. */
  readonly name: string;
  /** The rule that it breaks, in words. */
  readonly rule: string;
  /** A seed that is known to show it: tried first, so that the test is quick. */
  readonly hint?: number;
  /** No seed is known yet that shows it: only `npm run sim -- --mutant` looks for one. */
  readonly rare?: true;
  readonly edits: readonly Edit[];
}

/** A module and the mutant it is loaded as. */
export interface MutantModule {
  /** Absolute path of the file. */
  readonly path: string;
  readonly name: string;
}

/**
 * The folders of which a mutant has its own copy of every module. The bucket below them, tests and
 * packages are shared: there a store and its mutant must meet.
 */
const OWN_FOLDERS: readonly string[] = ['bucketstore', 'checkpoint', 'sections', 'feed', 'migrate'];

/** The module that an ID with `?mutant=NAME` means; null for an ID without. */
export function parseMutant(id: string): MutantModule | null {
  const [path = '', query = ''] = id.split('?', 2);
  const name = new URLSearchParams(query).get('mutant');
  return name === null ? null : { path, name };
}

/** The ID of a module that a mutant imports: of its own copy, or of the one that all share. */
export function importedBy(root: string, { name }: MutantModule, path: string): string {
  return isOwn(path.slice(root.length + 1)) ? `${path}?mutant=${name}` : path;
}

/** Whether a mutant has its own copy of a file, by its path from the root. */
function isOwn(file: string): boolean {
  return OWN_FOLDERS.some((folder) => file.startsWith(`${folder}/`));
}

/**
 * The text that a module with a mutant's query is loaded from, its types still in it: the edited
 * file, and the mutant's name as an export, so that whoever imports it can tell. Null for an ID
 * without that query.
 * @param root of the project, spelled as IDs are: a path or a URL, without a slash at its end
 * @param read a file's text, by its path from the root
 * @throws RangeError when no mutant has that name, or one of its edits fits nowhere: a mutant that
 *   a change of the source has disarmed would look like one that the oracle missed
 */
export function mutantSource(
  mutants: readonly Mutant[],
  root: string,
  id: string,
  read: (file: string) => string,
): string | null {
  const module = parseMutant(id);
  if (module === null) return null;
  const mutant = mutants.find(({ name }) => name === module.name);
  if (mutant === undefined) throw new RangeError(`no mutant is named "${module.name}"`);
  const edited = new Set(mutant.edits.map((edit) => edit.file));
  for (const one of edited) checkEdits(mutant, one, read);
  const file = module.path.slice(root.length + 1);
  return `${mutate(mutant, file, read(file))}\nexport const mutantName = '${mutant.name}';\n`;
}

function checkEdits(mutant: Mutant, file: string, read: (file: string) => string): void {
  if (!isOwn(file)) throw new RangeError(`mutant ${mutant.name}: ${file} is shared by all`);
  let text: string;
  try {
    text = read(file);
  } catch (cause) {
    throw new RangeError(`mutant ${mutant.name}: ${file} cannot be read`, { cause });
  }
  mutate(mutant, file, text);
}

/**
 * A file's text as a mutant has it; unchanged when none of its edits is of this file.
 * @throws RangeError naming mutant and file unless each edit's `find` occurs exactly once
 */
export function mutate(mutant: Mutant, file: string, text: string): string {
  let result = text;
  for (const edit of mutant.edits.filter((candidate) => candidate.file === file)) {
    const [before = '', after, ...more] = result.split(edit.find);
    if (after === undefined || more.length > 0) {
      const times = after === undefined ? 'no' : `${more.length + 1} times`;
      const found = `${file} has ${times} ${JSON.stringify(edit.find)}`;
      throw new RangeError(`mutant ${mutant.name}: ${found}, expected it once`);
    }
    result = `${before}${edit.replace}${after}`;
  }
  return result;
}
