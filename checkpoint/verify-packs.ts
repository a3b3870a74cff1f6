/**
 * Packs against the log. Whatever a pack holds of a sequence is what the slot of that sequence
 * inlined. Behind the base of a checkpoint its packs hold all of it, counted unit by unit; up to
 * the base they may have been written anew, and hold what was retained then at least.
 */
import type { Sequence } from '../bucketstore/base/sequence.ts';
import type { Inlined } from '../bucketstore/log/records.ts';
import type { Snapshot } from '../bucketstore/snapshot/snapshot.ts';
import { UNIT } from './constants.ts';
import { documentsOf } from './documents-of.ts';
import { multipleFrom } from './interval.ts';
import { type PackRef, packKey } from './pack.ts';
import type { PackDirectory } from './pack-directory.ts';
import { PackedSet } from './packed-set.ts';
import { type Root, type RootRef, rootKey } from './root.ts';
import type { VerifyObjects } from './verify-objects.ts';
import type { VerifyWalk } from './verify-walk.ts';

/** A pack that the replay is in. */
interface OpenPack {
  readonly ref: PackRef;
  readonly directory: PackDirectory;
  matched: number;
}

export class VerifyPacks {
  readonly #objects: VerifyObjects;
  /** By key. */
  readonly #expected = new Map<string, PackRef>();
  /** Those that the replay has not come to yet, the next one last; null before the first look. */
  #ahead: PackRef[] | null = null;
  #open: OpenPack[] = [];
  /** Rows of packs, as text of their keys, that were looked through. */
  readonly #complete = new Set<string>();

  constructor(objects: VerifyObjects) {
    this.#objects = objects;
  }

  /** A pack that a checkpoint names; before the replay comes to it. */
  expect(ref: PackRef): void {
    this.#expected.set(packKey(ref), ref);
  }

  /** What a slot inlined, in order. One `get` for each pack that begins there. */
  async pass(inlined: readonly Inlined[]): Promise<void> {
    for (const { sequence: at, hash } of inlined) {
      await this.#openUpTo(at);
      for (const open of this.#open) this.#match(open, at, hash);
      this.#open = this.#open.filter((open) => open.ref.last > at || this.#close(open));
    }
  }

  /**
   * The replay goes on behind a sequence, without the slots before: packs that begin at or before
   * it are only read.
   */
  async skipTo(at: Sequence): Promise<void> {
    this.#open = [];
    for (let ref = this.#next(at); ref !== null; ref = this.#next(at))
      await this.#objects.pack(ref);
  }

  /** There are no more slots. */
  async end(): Promise<void> {
    for (const open of this.#open) this.#close(open);
    this.#open = [];
    const all = Number.POSITIVE_INFINITY;
    for (let ref = this.#next(all); ref !== null; ref = this.#next(all)) {
      await this.#objects.pack(ref);
    }
  }

  /** The packs of a checkpoint, at its sequence. */
  async check(ref: RootRef, root: Root, walk: VerifyWalk): Promise<void> {
    const isWhole = walk.from === this.#objects.life.sequence;
    const problem =
      unitsProblem(root, walk, isWhole) ?? (await this.#retainedProblem(root, walk.snapshot));
    if (problem !== null) this.#objects.note(rootKey(ref), problem);
  }

  /** What is retained and lies in a pack that may have been written anew. */
  async #retainedProblem(root: Root, state: Snapshot): Promise<string | null> {
    const { position } = root.base;
    const packs = root.packs.filter(({ last }) => last <= position);
    const name = `${position} ${packs.map(packKey).join(' ')}`;
    if (this.#complete.has(name)) return null;
    this.#complete.add(name);
    const through = Math.min(position, root.packedThrough);
    return packedProblem(this.#objects, packs, await retainedUpTo(state, through));
  }

  async #openUpTo(at: Sequence): Promise<void> {
    for (let ref = this.#next(at); ref !== null; ref = this.#next(at)) {
      const directory = await this.#objects.pack(ref);
      if (directory !== null) this.#open.push({ ref, directory, matched: 0 });
    }
  }

  /** Takes the next pack, when it begins at or before a sequence. */
  #next(at: number): PackRef | null {
    this.#ahead ??= [...this.#expected.values()].sort((a, b) => b.first - a.first);
    const ref = this.#ahead.at(-1);
    if (ref === undefined || ref.first > at) return null;
    this.#ahead.pop();
    return ref;
  }

  #match(open: OpenPack, at: Sequence, hash: string): void {
    const row = open.directory.find(at);
    if (row === undefined) return;
    open.matched += 1;
    if (row.hash === hash) return;
    this.#objects.note(packKey(open.ref), `holds another version of sequence ${at} than its slot`);
  }

  /** The replay is behind a pack. */
  #close({ ref, matched }: OpenPack): false {
    if (matched < ref.versions) {
      const odd = `${ref.versions - matched} of ${ref.versions} versions`;
      this.#objects.note(packKey(ref), `holds ${odd} of sequences at which nothing was inlined`);
    }
    return false;
  }
}

/** Whether packs lack something of a set, as a problem of their root. */
export async function packedProblem(
  objects: VerifyObjects,
  packs: readonly PackRef[],
  set: PackedSet,
): Promise<string | null> {
  const missing = await set.missing(packs, (ref) => objects.pack(ref));
  if (missing === null) return null;
  const { first, count } = missing;
  return `packs: ${count} retained versions are in none, the first of sequence ${first}`;
}

/** Retained versions that were inlined up to a sequence. */
async function retainedUpTo(state: Snapshot, through: number): Promise<PackedSet> {
  const set = new PackedSet();
  for (const path of documentsOf(state)) {
    for (const { at, storedHash } of await state.versions(path, { lane: 'bulk' })) {
      if ('seq' in at && at.seq <= through) set.add(at.seq, storedHash);
    }
  }
  return set;
}

/**
 * Behind the base every inlined version of each unit is packed.
 * @param isWhole the replay began where the life did, and not inside a unit
 */
function unitsProblem(
  { base, packedThrough, packs }: Root,
  walk: VerifyWalk,
  isWhole: boolean,
): string | null {
  const packed = new Map<number, number>();
  for (const { first, versions } of packs) {
    // Of what the replay began with: it shares a unit with what follows, and was not counted.
    if (first <= walk.from) continue;
    const unit = multipleFrom(first, UNIT);
    packed.set(unit, (packed.get(unit) ?? 0) + versions);
  }
  // A unit that the replay began in was not seen whole.
  const from = Math.max(base.position, isWhole ? 0 : multipleFrom(walk.from, UNIT));
  for (let unit = multipleFrom(from + 1, UNIT); unit <= packedThrough; unit += UNIT) {
    const [found, expected] = [packed.get(unit) ?? 0, walk.inlined.count(unit)];
    if (found === expected) continue;
    return `packs: ${found} versions of the unit up to ${unit}, the log inlined ${expected}`;
  }
  return null;
}
