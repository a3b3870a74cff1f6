/**
 * Checkpoints against the log, in one pass: `walk` is told of each slot in order, and what a
 * checkpoint must be at a sequence is asked of the replay when it is there. Each run, pack and
 * history block is read once for each run that names it; of the log nothing is kept but the state.
 */
import type { BlobStore } from '../blob/index.ts';
import { canonicalText, type Json } from '../bucketstore/base/canonical.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import type { Sequence } from '../bucketstore/base/sequence.ts';
import type { Log, ReadSlot } from '../bucketstore/log/log.ts';
import type { Problems } from '../bucketstore/log/problems.ts';
import type { CheckpointRecord, Marker } from '../bucketstore/log/records.ts';
import { recordOf } from '../bucketstore/snapshot/checkpoint-state.ts';
import type { Snapshot } from '../bucketstore/snapshot/snapshot.ts';
import type { CheckpointLoader } from './load.ts';
import type { DecodeOldHistory } from './objects.ts';
import { packedThroughAt } from './packing.ts';
import { lifeStart, type Root, type RunRef, rootKey } from './root.ts';
import { type RunKind, runKey, TABLE_KINDS } from './run-manifest.ts';
import { Unpackable } from './unpackable.ts';
import { countDerived, type DerivedCounts } from './unused.ts';
import { type LoadedCheckpoint, verifyAlone } from './verify-alone.ts';
import {
  type FoundCheckpoint,
  type FoundCheckpoints,
  findCheckpoints,
  rootOf,
} from './verify-list.ts';
import { VerifyObjects } from './verify-objects.ts';
import { VerifyPacks } from './verify-packs.ts';
import { verifyRecordRun } from './verify-records.ts';
import { type RunCheck, verifyRun } from './verify-runs.ts';
import { VerifyWalk } from './verify-walk.ts';

export interface CheckpointVerifierParts {
  readonly bucket: BlobStore;
  readonly log: Log;
  readonly loader: CheckpointLoader;
  readonly marker: Marker;
  readonly markerHash: string;
  readonly problems: Problems;
  readonly decodeOldHistory?: DecodeOldHistory | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onObject: () => void;
}

/** Runs whose intervals end at one sequence, by key. */
interface RunsEnding {
  readonly run: Map<string, RunRef>;
  readonly records: Map<string, RunRef>;
}

export class CheckpointVerifier {
  readonly objects: VerifyObjects;
  /** Checkpoints that were held against the log, or read alone. */
  checked = 0;
  readonly #parts: CheckpointVerifierParts;
  readonly #packs: VerifyPacks;
  readonly #runs = new Map<number, RunsEnding>();
  #found: FoundCheckpoints = { live: [], dead: 0, earlier: 0 };
  /** By sequence; of those that the replay has not come to. */
  readonly #ahead = new Map<number, FoundCheckpoint[]>();
  readonly #unpackable = new Unpackable();
  #walk: VerifyWalk | null = null;

  constructor(parts: CheckpointVerifierParts) {
    this.#parts = parts;
    this.objects = new VerifyObjects({ ...parts, life: lifeStart(parts.marker.start) });
    this.#packs = new VerifyPacks(this.objects);
  }

  get found(): FoundCheckpoints {
    return this.#found;
  }

  /** The replay. */
  get walk(): VerifyWalk {
    if (this.#walk === null) throw new TypeError('nothing has been started');
    return this.#walk;
  }

  get state(): Snapshot {
    return this.walk.snapshot;
  }

  /** Finds the checkpoints and begins at the start. What `findCheckpoints` takes, and the roots. */
  async begin(): Promise<void> {
    const { bucket, log, marker, signal } = this.#parts;
    const { objects } = this;
    this.#found = await findCheckpoints({ bucket, log, objects, identity: marker, signal });
    for (const found of this.#found.live) {
      const root = await rootOf(objects, found);
      const { sequence: at } = found.record;
      this.#ahead.set(at, [...(this.#ahead.get(at) ?? []), found]);
      if (root !== null) this.#expect(root);
    }
    this.#walk = await this.#start();
    await this.#packs.skipTo(this.objects.life.sequence);
  }

  /**
   * A slot cannot be read, or what it inlines is not right: packing stops at it. In order, and
   * before what follows is entered.
   */
  cannotPack({ first, last }: { readonly first: number; readonly last: number }): void {
    this.#unpackable.add(first, last);
  }

  /**
   * Goes on over a slot.
   * @throws StoreError `INTEGRITY` naming the slot when it does not follow
   */
  async enter({ slot, hash }: Pick<ReadSlot, 'slot' | 'hash'>): Promise<void> {
    const { walk } = this;
    const isEnd = (at: Sequence): boolean => this.#runs.has(at);
    await walk.enter({ slot, hash }, isEnd, (at, state) => this.#checkRuns(at, state));
    await this.#packs.pass(slot.inlined);
    for (let at = slot.first as number; at <= slot.last; at++) {
      for (const found of this.#ahead.get(at) ?? []) {
        if (at === slot.last) await this.#check(found);
        else this.objects.note(found.key, `sequence: ${at} is no end of a slot`);
        this.checked += 1;
      }
      this.#ahead.delete(at);
    }
  }

  /**
   * Goes on from the oldest checkpoint at or behind a sequence that can be used for that: the slots
   * before it are gone or broken. It is verified alone.
   * @returns null when there is none
   */
  async restBehind(at: Sequence): Promise<CheckpointRecord | null> {
    for (const found of this.#found.live) {
      const { record } = found;
      if (record.sequence < at || !this.#ahead.has(record.sequence)) continue;
      const walk = await this.#alone(found);
      if (walk === null) continue;
      this.#walk = walk;
      await this.#packs.skipTo(record.sequence);
      await this.#readPassed(record.sequence);
      return record;
    }
    return null;
  }

  /** The log has ended: what is left of checkpoints is verified alone. */
  async end(isBroken: boolean): Promise<void> {
    const { sequence: tip } = this.state.tip;
    for (const [at, found] of [...this.#ahead].sort(([a], [b]) => a - b)) {
      for (const one of found) {
        if (!isBroken) this.objects.note(one.key, `is beyond the log, which ends at ${tip}`);
        await this.#alone(one);
      }
      this.#ahead.delete(at);
    }
    await this.#readPassed(Number.POSITIVE_INFINITY);
    await this.#packs.end();
  }

  /** What is there and what is not used. One list for a thousand derived objects. */
  derived(): Promise<DerivedCounts> {
    const { bucket, signal } = this.#parts;
    const live = new Set(this.#found.live.map(({ key }) => key));
    const { named } = this.objects;
    const isNamed = (key: string): boolean => {
      return key.includes('/checkpoints/') ? live.has(key) : named.has(key);
    };
    return countDerived(bucket, isNamed, signal);
  }

  async #start(): Promise<VerifyWalk> {
    const { loader, marker, markerHash, signal } = this.#parts;
    const { start } = marker;
    const snapshot = await loader.loadStart(marker, markerHash, { signal, lane: 'bulk' });
    const swept = { plan: null, pruned: 0, retained: start.documents };
    const base = { position: start.sequence, documents: start.documents };
    const from = { snapshot, start: start.sequence, base, swept, places: null };
    if (start.root === null) return new VerifyWalk(from);
    const root = await this.objects.root(start.root);
    if (root === null) throw integrityError(rootKey(start.root), 'changed while it was read');
    const loaded = { snapshot, root, ref: start.root, retained: null };
    const places = await verifyAlone(this.objects, loaded);
    if (places !== null) return new VerifyWalk({ ...from, places });
    throw integrityError(rootKey(start.root), 'what the life began with is not whole');
  }

  /** The runs and packs of a checkpoint, each once. */
  #expect({ runs, records, packs }: Root): void {
    for (const [kind, refs] of [['run', runs] as const, ['records', records] as const]) {
      for (const ref of refs) {
        let ending = this.#runs.get(ref.through);
        if (ending === undefined) {
          ending = { run: new Map(), records: new Map() };
          this.#runs.set(ref.through, ending);
        }
        ending[kind].set(`${ref.after} ${ref.epoch} ${ref.hash}`, ref);
      }
    }
    for (const pack of packs) this.#packs.expect(pack);
  }

  async #checkRuns(at: Sequence, state: Snapshot): Promise<void> {
    const ending = this.#runs.get(at);
    if (ending === undefined) return;
    this.#runs.delete(at);
    const check: RunCheck = { objects: this.objects, walk: this.walk, state };
    for (const ref of ending.run.values()) await verifyRun(check, ref);
    for (const ref of ending.records.values()) await verifyRecordRun(check, ref);
  }

  /** Runs that end where the replay has not been: only read. */
  async #readPassed(through: number): Promise<void> {
    for (const [at, ending] of [...this.#runs].sort(([a], [b]) => a - b)) {
      if (at > through) continue;
      this.#runs.delete(at);
      for (const kind of ['run', 'records'] as const) {
        for (const ref of ending[kind].values()) await this.#readRun(kind, ref);
      }
    }
  }

  /** Unless a checkpoint that was verified alone has it, too. */
  async #readRun(kind: RunKind, ref: RunRef): Promise<void> {
    if (this.objects.named.has(runKey(ref))) return;
    const manifest = await this.objects.run(kind, ref);
    for (const table of manifest?.objects ?? []) {
      await this.objects.table(TABLE_KINDS[kind], table);
    }
  }

  /** A checkpoint at the sequence where the replay is. */
  async #check(found: FoundCheckpoint): Promise<void> {
    const { record, key } = found;
    const { walk, objects } = this;
    const { identity, tip, control, documentCount } = walk.snapshot;
    const expected = recordOf(identity, tip, control, documentCount, record.root, walk.swept);
    const problem = recordProblem(expected, record);
    if (problem !== null) objects.note(key, problem);
    const root = await rootOf(objects, found);
    if (root === null) return;
    const odd = this.#rootProblem(root, walk);
    if (odd !== null) objects.note(rootKey(record.root), odd);
    await this.#packs.check(record.root, root, walk);
  }

  /** What a root says otherwise than the log, or null. Its runs follow from its base. */
  #rootProblem(root: Root, { base }: VerifyWalk): string | null {
    for (const name of ['position', 'documents'] as const) {
      const [found, expected] = [root.base[name], base[name]];
      if (found !== expected) return `base.${name}: ${found}, the log says ${expected}`;
    }
    const { packedThrough, sequence: at } = root;
    const packed = packedThroughAt(this.objects.life.sequence, at);
    if (packedThrough === packed) return null;
    if (packedThrough < packed && this.#unpackable.stopsAt(packedThrough)) return null;
    return `packed_through: ${packedThrough}, all slots up to ${packed} can be packed`;
  }

  /** A checkpoint without the log; what a replay goes on with. */
  async #alone(found: FoundCheckpoint): Promise<VerifyWalk | null> {
    const { loader, signal } = this.#parts;
    const { record, key } = found;
    this.#ahead.delete(record.sequence);
    this.checked += 1;
    const root = await rootOf(this.objects, found);
    if (root === null) return null;
    try {
      const snapshot = await loader.load(record, { signal, lane: 'bulk' });
      const { retained } = record.swept;
      const loaded: LoadedCheckpoint = { snapshot, root, ref: record.root, retained };
      const places = await verifyAlone(this.objects, loaded);
      if (places === null) return null;
      const { sequence: start } = this.objects.life;
      return new VerifyWalk({ snapshot, start, base: root.base, swept: record.swept, places });
    } catch (error) {
      this.objects.noteError(error, key);
      return null;
    }
  }
}

/** The first thing that a record says otherwise than the log, or null. */
function recordProblem(expected: CheckpointRecord, found: CheckpointRecord): string | null {
  const said: { readonly [name: string]: unknown } = { ...found };
  for (const [name, value] of Object.entries(expected)) {
    const [one, other] = [value, said[name]].map((part) => canonicalText(part as Json));
    if (one !== other) return `${name}: ${other}, the log says ${one}`;
  }
  return null;
}
