/**
 * Whole worlds of the old store, made from a seed: the same seed and options give the same bytes.
 *
 *     const world = new OldWorld({ seed: 1, documents: 5_000 });
 *     await world.writeTo(bucket);                     // or: for (const object of world.objects())
 *     for (const document of world.documents()) …      // what a reader must find
 *
 * A world of 257 documents or more holds one document of each kind of `fixturePlans`; the others
 * are plain. Nothing but plans is held: what is asked for is built anew, so 100,000 documents need
 * little memory.
 */
import type { BlobStore } from '../../blob/blob.ts';
import { contentKinds } from './content-kinds.ts';
import { placeAll } from './directory.ts';
import { type BuiltDocument, buildDocument, type OldDocument } from './document.ts';
import type { Spelling } from './go-json.ts';
import { historyKinds } from './history-kinds.ts';
import {
  byBytes,
  CHANGE_BLOCK,
  changeKey,
  HEAD_KEY,
  RECEIPTS_MAX,
  rootKey,
  SHARDS,
  sha256,
  shardKey,
  shardLabel,
  shardOf,
} from './names.ts';
import { createAll, createSame, type OldObject, type Parallel } from './objects.ts';
import { pathKinds, shardSpelling } from './path-kinds.ts';
import { PlainDocument } from './plain-document.ts';
import type { DocumentPlan } from './plan.ts';
import {
  encodeChangeBlock,
  encodeHead,
  encodeRoot,
  encodeShard,
  type OldChange,
  type OldEntry,
  type OldReceipt,
} from './records.ts';
import { Schedule, uuidOf } from './schedule.ts';

/** Of so many last commits it is fixed which receipts say what was committed. */
const LAST_KNOWN = 6;
/** From so many documents on a world has one of each kind. */
const FIXTURES_FROM = 257;

export interface OldWorldOptions {
  /** Any integer. */
  readonly seed: number;
  /** 0 to 100,000. */
  readonly documents: number;
  /** Default one that the seed gives. */
  readonly worldId?: string;
  /** Whether one document of each kind is among them. Default from 257 documents on. */
  readonly fixtures?: boolean;
  /** Whether receipts say what was committed. Default `mixed`: some do. */
  readonly receipts?: 'named' | 'unnamed' | 'mixed';
  /**
   * Whether complete blocks of receipts are kept. Default `gap`: all but those of
   * `missingChangeBlocks`.
   */
  readonly changes?: 'none' | 'complete' | 'gap';
  /** How U+0008 and U+000C are spelled. Default `mixed`: by the parity of a shard or a block. */
  readonly spelling?: Spelling | 'mixed';
}

/** One document for each kind, all kinds. */
export function fixturePlans(): readonly DocumentPlan[] {
  return [...pathKinds(), ...contentKinds(), ...historyKinds()];
}

export class OldWorld {
  readonly worldId: string;
  readonly #options: Required<OldWorldOptions>;
  readonly #plans: readonly DocumentPlan[];
  readonly #schedule: Schedule;
  /** What sequences changed, as far as it was asked for. */
  readonly #changes = new Map<number, OldChange>();

  constructor(options: OldWorldOptions) {
    const { seed, documents } = options;
    const worldId = options.worldId ?? uuidOf(`${seed} world`);
    const fixtures = documents >= FIXTURES_FROM;
    const told = { receipts: 'mixed', changes: 'gap', spelling: 'mixed' } as const;
    this.#options = { worldId, fixtures, ...told, ...options };
    this.worldId = worldId;
    const plans = this.#options.fixtures ? [...fixturePlans()] : [];
    if (plans.length > documents) throw new RangeError(`there are ${plans.length} kinds`);
    while (plans.length < documents) plans.push(new PlainDocument(seed, plans.length));
    this.#plans = plans;
    this.#schedule = new Schedule(seed, plans);
  }

  /** The sequence of its head: 1 when it is empty. */
  get sequence(): number {
    return this.#schedule.sequence;
  }

  /** Archived ones included. */
  get documentCount(): number {
    return this.#plans.length;
  }

  /** The window of its head. */
  get receipts(): readonly OldReceipt[] {
    const first = Math.max(this.sequence - RECEIPTS_MAX + 1, 2);
    return this.receiptsOf(first, this.sequence);
  }

  /** Complete blocks of receipts that nobody kept, ascending. */
  get missingChangeBlocks(): readonly number[] {
    const complete = Math.floor(this.sequence / CHANGE_BLOCK);
    if (this.#options.changes === 'none') return Array.from({ length: complete }, (_, i) => i);
    if (this.#options.changes === 'complete' || complete < 3) return [];
    return [complete >> 1];
  }

  /** What its bucket holds, objects in an order in which they may be created: the head is last. */
  *objects(): Iterable<OldObject> {
    const entries: OldEntry[][] = Array.from({ length: SHARDS }, () => []);
    for (const { entry, objects } of this.built()) {
      yield* objects;
      entries[shardOf(entry.pathHash)]?.push(entry);
    }
    const shards: string[] = [];
    for (const [index, own] of entries.entries()) {
      own.sort((a, b) => byBytes(a.path, b.path));
      const bytes = encodeShard({ index, entries: own }, this.#spelling(index));
      shards.push(sha256(bytes));
      yield { key: shardKey(shardLabel(index), sha256(bytes)), bytes };
    }
    const { worldId, documentCount: documents } = this;
    const root = encodeRoot({ worldId, documents, shards });
    const rootHash = sha256(root);
    yield { key: rootKey(rootHash), bytes: root };
    yield* this.#changeBlocks();
    const { sequence, receipts } = this;
    const head = { worldId, sequence, rootHash, receipts };
    yield { key: HEAD_KEY, bytes: encodeHead(head, this.#spelling(1)) };
  }

  /** What its bucket holds, by key. For worlds that fit into memory. */
  toMap(): ReadonlyMap<string, Uint8Array> {
    return new Map(Array.from(this.objects(), ({ key, bytes }) => [key, bytes]));
  }

  /** Creates all of it in a bucket, many objects at once and the head last. Answers how many. */
  async writeTo(bucket: BlobStore, options: Parallel = {}): Promise<number> {
    let last: OldObject | undefined;
    function* immutable(objects: Iterable<OldObject>): Iterable<OldObject> {
      for (const object of objects) {
        if (object.key === HEAD_KEY) last = object;
        else yield object;
      }
    }
    const count = await createAll(bucket, immutable(this.objects()), options);
    if (last !== undefined) await createSame(bucket, last);
    return count + 1;
  }

  /**
   * Writes all of it below an empty directory, as a `file:` location has it: many times faster than
   * by `writeTo`, which syncs every object. Answers how many.
   */
  writeToDirectory(directory: string): number {
    return placeAll(directory, this.objects());
  }

  /** What a reader must find, in no order of paths. */
  *documents(): Iterable<OldDocument> {
    for (const { document } of this.built()) yield document;
  }

  /** What a reader must find of the documents of a kind. */
  ofKind(kind: string): readonly OldDocument[] {
    const found = this.#plans.flatMap((plan, index) => (plan.kind === kind ? [index] : []));
    return found.map((index) => this.#build(index).document);
  }

  /** Every document, with its kind and its objects. */
  *built(): Iterable<BuiltDocument> {
    for (const index of this.#plans.keys()) yield this.#build(index);
  }

  /** The receipts of sequences `first` to `last`, whether or not they are still in the bucket. */
  receiptsOf(first: number, last: number): readonly OldReceipt[] {
    const receipts: OldReceipt[] = [];
    for (let sequence = first; sequence <= last; sequence++) {
      const operationId = this.#schedule.operationId(sequence);
      const change = this.#isNamed(sequence) ? this.#changeOf(sequence) : null;
      receipts.push({ operationId, sequence, change });
    }
    return receipts;
  }

  *#changeBlocks(): Iterable<OldObject> {
    const missing = new Set(this.missingChangeBlocks);
    for (let block = 0; (block + 1) * CHANGE_BLOCK <= this.sequence; block++) {
      if (missing.has(block)) continue;
      const first = Math.max(block * CHANGE_BLOCK + 1, 2);
      const receipts = this.receiptsOf(first, (block + 1) * CHANGE_BLOCK);
      const { worldId } = this;
      const bytes = encodeChangeBlock({ worldId, first, receipts }, this.#spelling(block));
      yield { key: changeKey(block), bytes };
    }
  }

  #build(index: number): BuiltDocument {
    const plan = this.#plans[index];
    if (plan === undefined) throw new RangeError(`no document ${index}`);
    const sequences = this.#schedule.sequencesOf(index);
    const built = buildDocument(plan, (step) => this.#schedule.modified(sequences[step] ?? 0));
    for (const [step, change] of built.changes.entries()) {
      this.#changes.set(sequences[step] ?? 0, change);
    }
    return built;
  }

  #changeOf(sequence: number): OldChange | null {
    if (!this.#changes.has(sequence)) this.#build(this.#schedule.documentOf(sequence));
    return this.#changes.get(sequence) ?? null;
  }

  /** In a mixed world both generations of receipts are in the window, whatever the seed. */
  #isNamed(sequence: number): boolean {
    const { receipts } = this.#options;
    if (receipts !== 'mixed') return receipts === 'named';
    if (sequence > this.sequence - LAST_KNOWN) return sequence !== this.sequence - 1;
    return this.#schedule.isOne('named', sequence, 160);
  }

  #spelling(index: number): Spelling {
    const { spelling } = this.#options;
    return spelling === 'mixed' ? shardSpelling(index) : spelling;
  }
}
