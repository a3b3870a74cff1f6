/** What the runs of a checkpoint must hold: of each stretch of the log, what changed in it. */
import { comparePaths, type OracleTableEntry } from '../../oracle/checkpoints.ts';
import { type Loose, spell } from '../../oracle/objects.ts';
import type { Stretch } from './checkpoint-plan.ts';
import type { GhostState, GhostVersion } from './ghost-document.ts';
import type { GhostWorld } from './ghost-state.ts';
import { blobKey } from './keys.ts';

type VersionRecord = readonly [version: number, ...said: unknown[]];

/** The records that a history block stands for. @throws OracleError when it is none of that path */
export type BlockReader = (
  ref: { readonly epoch: number; readonly hash: string },
  path: string,
  first: number,
) => readonly unknown[];

/**
 * What is wrong with the entries of a run, or null: of each document that was touched in the
 * stretch, its state at the stretch's end.
 */
export function runProblem(
  world: GhostWorld,
  [after, through]: Stretch,
  entries: readonly OracleTableEntry[],
): string | null {
  const touched = pathsOf(world, after, through, () => true);
  const problem = namesProblem(touched, entries);
  if (problem !== null) return problem;
  for (const { path, said } of entries) {
    const state = world.documents.get(path)?.states.at(through);
    const version = world.documents.get(path)?.versions.get(state?.version ?? 0);
    if (state === undefined || version === undefined) return `${path} is not in the log`;
    const right = spell(stateOf(state, version, said['at']));
    if (spell(said) !== right) return `${path} is ${spell(said)} and not ${right}`;
  }
  return null;
}

function stateOf(state: GhostState, version: GhostVersion, at: unknown): Loose {
  const { metadata, title, modified, bodyHash: body_hash } = version;
  const { archived, first, etag: stored_hash, version: number } = state;
  const place = isPlace(at, version) ? at : 'elsewhere';
  const fields = { archived, at: place, body_hash, catalog: { metadata, title }, first };
  return { ...fields, modified, stored_hash, version: number };
}

/** Whether `{seq}` or `{epoch}` is where the version lies. */
function isPlace(at: unknown, { sequence, blob, etag }: GhostVersion): boolean {
  const { seq, epoch, ...rest } = at as { readonly seq?: number; readonly epoch?: number };
  if (Object.keys(rest).length > 0 || (seq === undefined) === (epoch === undefined)) return false;
  return epoch === undefined ? blob === null && seq === sequence : blob === blobKey(epoch, etag);
}

/**
 * What is wrong with the entries of a record run, or null: of each document the versions that were
 * made in the stretch, but for aligned ranges that are no longer retained at its end, and a block
 * for each range that is complete.
 */
export function recordsProblem(
  world: GhostWorld,
  [after, through]: Stretch,
  entries: readonly OracleTableEntry[],
  historyVersions: number,
  read: BlockReader,
): string | null {
  const made = pathsOf(world, after, through, (kind) => kind === 'write');
  const problem = namesProblem(made, entries);
  if (problem !== null) return problem;
  const rangeOf = (version: number): number => Math.floor((version - 1) / historyVersions);
  for (const { path, said } of entries) {
    const document = world.documents.get(path);
    const first = document?.states.at(through)?.first ?? 0;
    if (said['first'] !== first) return `${path}: first is ${said['first']}, not ${first}`;
    const versions = [...(made.get(path) ?? [])].filter((one) => rangeOf(one) >= rangeOf(first));
    const told: VersionRecord[] = [];
    for (const [from, hash, epoch] of said['blocks'] as readonly [number, string, number][]) {
      if (from !== rangeOf(from) * historyVersions + 1) return `${path}: a block from ${from}`;
      told.push(...(read({ epoch, hash }, path, from) as readonly VersionRecord[]));
    }
    const open = said['records'] as readonly VersionRecord[];
    const full = open.find(([version]) => {
      const range = rangeOf(version);
      return open.filter(([other]) => rangeOf(other) === range).length === historyVersions;
    });
    if (full !== undefined) return `${path}: version ${full[0]} is in a complete range`;
    // A range of which only the end was made in the stretch lies open before the first block.
    const all = [...told, ...open].sort(([a], [b]) => a - b);
    const numbers = all.map(([version]) => version);
    if (numbers.join() !== versions.join()) return `${path}: versions ${numbers}, not ${versions}`;
    for (const record of all) {
      const odd = versionProblem(record, document?.versions);
      if (odd !== null) return `${path}: ${odd}`;
    }
  }
  return null;
}

function versionProblem(
  record: unknown,
  versions: ReadonlyMap<number, GhostVersion> | undefined,
): string | null {
  const [number, storedHash, bodyHash, modified, at, ...rest] = record as readonly unknown[];
  const version = versions?.get(Number(number));
  const right =
    version !== undefined &&
    rest.length === 0 &&
    storedHash === version.etag &&
    bodyHash === version.bodyHash &&
    modified === version.modified &&
    isPlace(at, version);
  return right ? null : `version ${number} is not what the log says: ${spell(record)}`;
}

/** Documents of a stretch, with the versions that were made of them. */
function pathsOf(
  world: GhostWorld,
  after: number,
  through: number,
  counts: (kind: 'write' | 'archive') => boolean,
): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  for (let at = after + 1; at <= through; at++) {
    const entry = world.entries.get(at);
    if (entry === undefined || !counts(entry.kind)) continue;
    const versions = found.get(entry.path) ?? [];
    found.set(entry.path, versions);
    if (entry.kind === 'write') versions.push(entry.version);
  }
  return found;
}

function namesProblem(
  right: ReadonlyMap<string, unknown>,
  entries: readonly OracleTableEntry[],
): string | null {
  const paths = [...right.keys()].sort(comparePaths);
  const odd = entries.find(({ path }, index) => path !== paths[index]);
  if (odd !== undefined) return `${odd.path} is in it, out of place or out of order`;
  return entries.length === paths.length ? null : `${paths[entries.length]} is not in it`;
}
