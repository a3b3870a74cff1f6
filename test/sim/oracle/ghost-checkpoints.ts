/**
 * Checkpoints as they land in the bucket, judged by the ghost log: whatever a record leads to was
 * there before it, is what the log says at its sequence, and holds every stored version that it
 * calls packed (I3, I4). Content-addressed objects are what their names say, and compactors that
 * race write the same (I4, I8). Nothing that a barrier condemned is named again (I16).
 */
import {
  absent,
  decodeBlock,
  decodeManifest,
  decodePack,
  decodeRoot,
  decodeTable,
  type OracleManifest,
  type OracleRoot,
  type OracleRunRef,
} from '../../oracle/checkpoints.ts';
import { demand, sha256, spell } from '../../oracle/objects.ts';
import { type CheckpointSizes, SMALL } from '../sizes.ts';
import { recordsProblem, runProblem } from './check-runs.ts';
import { basePosition, type Stretch, stretches } from './checkpoint-plan.ts';
import { barriersOf, documentsAt, recordAt } from './checkpoint-record.ts';
import type { GhostLog } from './ghost-log.ts';
import type { GhostWorld } from './ghost-state.ts';
import {
  type DerivedKey,
  decodeRecord,
  derivedKey,
  problemOf,
  readKey,
  recordKey,
} from './keys.ts';

export interface GhostCheckpoint {
  readonly key: string;
  readonly sequence: number;
  readonly epoch: number;
  readonly packedThrough: number;
  /** Keys of all that it consists of. */
  readonly reach: ReadonlySet<string>;
  /** Who created its record. */
  readonly process: string;
}

export class GhostCheckpoints {
  /** By the key of the record, in the order in which they landed: those that are right. */
  readonly found: Map<string, GhostCheckpoint> = new Map();
  readonly #ghost: GhostLog;
  readonly #sizes: CheckpointSizes;
  readonly #objects = new Map<string, Uint8Array>();
  readonly #records = new Map<string, string>();
  /** Runs that are right, by place and manifest, with what each consists of. */
  readonly #runs = new Map<string, ReadonlySet<string>>();
  readonly #packs = new Map<string, ReadonlyMap<number, Uint8Array>>();
  /** Roots of the first epoch, by sequence. */
  readonly #roots = new Map<number, string>();

  constructor(ghost: GhostLog, sizes: CheckpointSizes = SMALL) {
    this.#ghost = ghost;
    this.#sizes = sizes;
  }

  /** A create took effect, after the ghost log was told of it. */
  landed(key: string, bytes: Uint8Array, process: string): void {
    const name = readKey(key);
    try {
      if (name.kind === 'derived') this.#landObject(key, name, bytes);
      if (name.kind === 'checkpoint') this.#landRecord(key, name, bytes, process);
    } catch (error) {
      this.#report('I4', problemOf(error));
    }
  }

  /** A create of a name that was taken. @returns whether another's record was in its place */
  refused(key: string, bytes: Uint8Array, process: string): boolean {
    if (readKey(key).kind !== 'checkpoint') return false;
    const there = this.#records.get(key);
    if (there === undefined) return false;
    try {
      // But for the root, which depends on what was built on.
      const own = this.#said(key, bytes);
      if (own !== there) this.#report('I4', `${key} is written as ${own}, and was as ${there}`);
    } catch (error) {
      this.#report('I4', problemOf(error));
    }
    const { process: creator } = this.found.get(key) ?? {};
    return creator !== undefined && creator !== process;
  }

  /** A slot was deleted: what it inlined must be in packs. */
  removed(key: string): void {
    const name = readKey(key);
    const slot = name.kind === 'slot' ? this.#ghost.slotFrom(name.first) : undefined;
    const { packedThrough = 0 } = this.newest ?? {};
    if (slot === undefined || slot.last <= packedThrough) return;
    this.#report('I16', `${key} was deleted, and what is packed ends at ${packedThrough}`);
  }

  /** The newest one that is right; null while there is none. */
  get newest(): GhostCheckpoint | null {
    let newest: GhostCheckpoint | null = null;
    for (const one of this.found.values()) {
      if (newest === null || one.sequence > newest.sequence) newest = one;
    }
    return newest;
  }

  /** What lies in the bucket under a name of a checkpoint's object. */
  bytes(key: string): Uint8Array | undefined {
    return this.#objects.get(key);
  }

  #report(rule: string, detail: string): void {
    this.#ghost.violations.push({ rule, detail });
  }

  #landObject(key: string, { type, epoch, hash }: DerivedKey, bytes: Uint8Array): void {
    const before = this.#objects.get(key);
    // What was damaged may be written again.
    if (before !== undefined && Buffer.compare(before, bytes) !== 0) {
      this.#report('I4', `${key} was created with other bytes`);
    }
    this.#objects.set(key, bytes);
    if (sha256(bytes) !== hash) this.#report('I8', `${key} is not the hash of its bytes`);
    const first = this.#ghost.marker?.start.epoch ?? 0;
    const now = this.#ghost.world?.control.epoch ?? 0;
    if (epoch < first || epoch > now) this.#report('I8', `${key}: the epoch is ${now}`);
    if (type !== 'root' || epoch !== first) return;
    // In the first epoch nothing depends on what was built on.
    const { sequence } = decodeRoot(key, bytes);
    const other = this.#roots.get(sequence) ?? key;
    if (other !== key) this.#report('I4', `${key} and ${other} are both roots at ${sequence}`);
    this.#roots.set(sequence, key);
  }

  #landRecord(
    key: string,
    { sequence, epoch }: { readonly sequence: number; readonly epoch: number },
    bytes: Uint8Array,
    process: string,
  ): void {
    this.#records.set(key, this.#said(key, bytes));
    const right = recordAt(this.#ghost, sequence);
    demand(right !== null, key, `${sequence} is no end of a slot`);
    const said = this.#records.get(key);
    if (said !== spell(right)) {
      this.#report('I4', `${key} says ${said} where the log says ${spell(right)}`);
    }
    const { root: ref } = decodeRecord(key, bytes);
    const rootKey = derivedKey('root', ref);
    const root = decodeRoot(rootKey, this.#object(rootKey, key));
    const reach = new Set([rootKey, ...this.#check(rootKey, root, sequence)]);
    this.#checkEpochs(key, epoch, reach);
    const packedThrough = root.packed_through;
    this.found.set(key, { key, sequence, epoch, packedThrough, reach, process });
  }

  /** A record without its root, spelled. */
  #said(key: string, bytes: Uint8Array): string {
    const { root: _, ...said } = decodeRecord(key, bytes);
    return spell(said);
  }

  #object(key: string, namedBy: string): Uint8Array {
    const bytes = this.#objects.get(key);
    if (bytes === undefined) throw absent(key, namedBy);
    return bytes;
  }

  /** @returns the keys of all that a root leads to */
  #check(key: string, root: OracleRoot, sequence: number): readonly string[] {
    const { world } = this.#ghost;
    demand(world !== null, key, 'is of no log');
    demand(root.sequence === sequence, key, `is of ${root.sequence}`);
    const { start } = this.#ghost;
    const documents = (at: number): number => documentsAt(world, at);
    const base = basePosition(start, sequence, documents, this.#sizes);
    const right = { position: base, documents: documents(base) };
    demand(spell(root.base) === spell(right), key, `has its base at ${spell(root.base)}`);
    const runs: Stretch[] = [[0, base], ...stretches(base, sequence, this.#sizes)];
    const records = stretches(start, sequence, this.#sizes);
    const reach = [
      ...this.#checkRuns(key, world, 'run', root.runs, runs),
      ...this.#checkRuns(key, world, 'records', root.records, records),
    ];
    return [...reach, ...this.#checkPacks(key, world, root)];
  }

  #checkRuns(
    key: string,
    world: GhostWorld,
    kind: OracleManifest['kind'],
    refs: readonly OracleRunRef[],
    planned: readonly Stretch[],
  ): readonly string[] {
    const told = refs.map(({ after, through }): Stretch => [after, through]);
    demand(spell(told) === spell(planned), key, `${kind}: ${spell(told)}, not ${spell(planned)}`);
    return refs.flatMap((ref) => {
      const manifest = derivedKey('run', ref);
      // By what it is named as: a manifest may be named in another's place.
      const place = `${kind} of ${ref.after} to ${ref.through}: ${manifest}`;
      const known = this.#runs.get(place) ?? this.#checkRun(key, world, kind, ref);
      this.#runs.set(place, known);
      return [manifest, ...known];
    });
  }

  /** @returns the keys of the tables of a run, and of the blocks that they name */
  #checkRun(
    namedBy: string,
    world: GhostWorld,
    kind: OracleManifest['kind'],
    ref: OracleRunRef,
  ): ReadonlySet<string> {
    const key = derivedKey('run', ref);
    const manifest = decodeManifest(key, this.#object(key, namedBy));
    const { after, through } = ref;
    const same = manifest.kind === kind && manifest.after === after;
    demand(same && manifest.through === through, key, `is not of ${after} to ${through}`);
    const { blockBytes, historyVersions } = this.#sizes;
    const reach = new Set<string>();
    const table = kind === 'run' ? 'segment' : 'records';
    const entries = manifest.objects.flatMap((object) => {
      const name = derivedKey(table, object);
      reach.add(name);
      return decodeTable(name, table, object, this.#object(name, key), blockBytes);
    });
    const read = (block: { epoch: number; hash: string }, path: string, first: number) => {
      const name = derivedKey('history', block);
      reach.add(name);
      return this.#block(name, key, path, first);
    };
    const stretch: Stretch = [after, through];
    const problem =
      kind === 'run'
        ? runProblem(world, stretch, entries)
        : recordsProblem(world, stretch, entries, historyVersions, read);
    demand(problem === null, key, `${kind} of ${after} to ${through}: ${problem}`);
    return reach;
  }

  #block(key: string, namedBy: string, path: string, first: number): readonly unknown[] {
    const block = decodeBlock(key, this.#object(key, namedBy));
    const last = first + this.#sizes.historyVersions - 1;
    const right = block.first === first && block.last === last;
    demand(right && block.path_hash === sha256(path), key, `is not of ${path} from ${first}`);
    return block.records;
  }

  /** Every stored version that was inlined up to `packed_through` is in a pack. */
  #checkPacks(key: string, world: GhostWorld, root: OracleRoot): readonly string[] {
    const { unit, packBytes } = this.#sizes;
    const { sequence, packed_through: through, base } = root;
    const whole = Math.max(sequence - (sequence % unit), this.#ghost.start);
    demand(through === whole, key, `is packed through ${through}, not ${whole}`);
    const packed = new Map<number, Uint8Array>();
    const keys = root.packs.map((ref) => {
      const name = derivedKey('pack', ref);
      demand(ref.bytes <= packBytes, name, `has ${ref.bytes} bytes`);
      const isOfUnit = Math.ceil(ref.first / unit) === Math.ceil(ref.last / unit);
      demand(isOfUnit || ref.last <= base.position, name, `is of ${ref.first} to ${ref.last}`);
      const known = this.#packs.get(name) ?? decodePack(name, ref, this.#object(name, key));
      this.#packs.set(name, known);
      for (const [at, stored] of known) packed.set(at, stored);
      return name;
    });
    for (let at = this.#ghost.start + 1; at <= through; at++) {
      this.#checkPacked(key, world, at, base.position, packed);
    }
    const beyond = [...packed.keys()].find((at) => at > through);
    demand(beyond === undefined, key, `packs ${beyond}, beyond ${through}`);
    return keys;
  }

  #checkPacked(
    key: string,
    world: GhostWorld,
    at: number,
    base: number,
    packed: ReadonlyMap<number, Uint8Array>,
  ): void {
    const entry = world.entries.get(at);
    const document = world.documents.get(entry?.path ?? '');
    const version = entry?.kind === 'write' ? document?.versions.get(entry.version) : undefined;
    const stored = packed.get(at);
    const isInlined = version !== undefined && version.blob === null;
    if (stored !== undefined) {
      const right = isInlined && sha256(stored) === version.etag;
      demand(right, key, `packs something else as ${at}`);
    } else if (isInlined) {
      // What a base no longer retains may be left out as packs are written anew.
      const { first = 0 } = at <= base ? (document?.states.at(base) ?? {}) : {};
      demand(version.version < first, key, `calls ${at} packed, and it is in no pack`);
    }
  }

  /** Of earlier epochs, only what the barrier kept may be named. */
  #checkEpochs(key: string, epoch: number, reach: ReadonlySet<string>): void {
    const barriers = barriersOf(this.#ghost);
    for (let at = epoch; barriers.has(at); at--) {
      const kept = (barriers.get(at) ?? []).map((place) => this.found.get(recordKey(...place)));
      for (const name of reach) {
        const object = readKey(name);
        if (object.kind !== 'derived' || object.epoch >= at) continue;
        if (kept.some((one) => one?.reach.has(name))) continue;
        this.#report('I16', `${key} names ${name}, which the barrier to epoch ${at} condemned`);
      }
    }
  }
}
