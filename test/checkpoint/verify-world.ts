/** A world with checkpoints for verification to look at, and ways to make it wrong. */
import { canonicalText, type Json } from '../../bucketstore/base/canonical.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { type Sequence, sequence } from '../../bucketstore/base/sequence.ts';
import { type VerifyOptions, type VerifyReport, verifyWorld } from '../../bucketstore/index.ts';
import {
  decodeCheckpointRecord,
  encodeCheckpointRecord,
} from '../../bucketstore/log/checkpoint-record.ts';
import { CHECKPOINTS_PREFIX, checkpointKey, WORLD_PREFIX } from '../../bucketstore/log/names.ts';
import type { CheckpointRecord } from '../../bucketstore/log/records.ts';
import type { RootRef } from '../../checkpoint/root.ts';
import { rootKey } from '../../checkpoint/root.ts';
import { type DerivedKind, kindOf } from '../../checkpoint/unused.ts';
import { RealLog, type RealLogPlan } from '../support/real-log.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { WorldBench } from '../support/world-bench.ts';

export class VerifyBench {
  readonly bench: WorldBench = new WorldBench();
  readonly log: RealLog;
  readonly #saved = new Map<string, Uint8Array>();

  constructor(seed: number, plan: RealLogPlan) {
    this.log = new RealLog(this.bench, new SeededRandom(seed), plan);
  }

  /** Checkpoints by the compactor, at the first slot ends at or beyond these sequences. */
  async checkpoints(ends: readonly number[]): Promise<void> {
    if (this.log.slots.length === 0) await this.log.begin();
    for (const end of ends) {
      await this.log.writeTo(end);
      await this.compact();
    }
  }

  async compact(): Promise<void> {
    const world = await this.bench.open({ create: false });
    await this.bench.run(world.compact());
    await this.bench.run(world.close());
  }

  /** Remembers what is there now. */
  async save(): Promise<void> {
    this.#saved.clear();
    for (const key of await this.keys()) this.#saved.set(key, await this.bench.bytes(key));
  }

  /** Brings back what was there. */
  async restore(): Promise<void> {
    for (const key of await this.keys()) {
      if (!this.#saved.has(key)) await this.bench.bucket.delete(key);
    }
    for (const [key, bytes] of this.#saved) {
      const found = await this.bench.bucket.get(key);
      if (!found.found || Buffer.compare(found.bytes, bytes) !== 0)
        await this.bench.put(key, bytes);
    }
  }

  async keys(): Promise<readonly string[]> {
    return this.bench.keys(WORLD_PREFIX);
  }

  /** Keys of derived objects of some kinds. */
  async derived(...kinds: readonly DerivedKind[]): Promise<readonly string[]> {
    return (await this.keys()).filter((key) => {
      const kind = kindOf(key);
      return kind !== null && kinds.includes(kind);
    });
  }

  verify(options: VerifyOptions = {}): Promise<VerifyReport> {
    const { clock, random, bucket } = this.bench;
    const components = { clock, random, bucket };
    return this.bench.run(verifyWorld('memory:', { components, ...options }));
  }

  /** Keys that verification names, sorted, each once. */
  async named(options: VerifyOptions = {}): Promise<readonly string[]> {
    const { problems } = await this.verify(options);
    return [...new Set(problems.map(({ object }) => object))].sort();
  }

  /** What verification says of each object that it names, sorted. */
  async said(): Promise<readonly string[]> {
    const { problems } = await this.verify();
    return problems.map(({ object, problem }) => `${object}: ${problem}`).sort();
  }

  /** Keys of records, ascending by sequence. */
  async records(): Promise<readonly string[]> {
    return [...(await this.bench.keys(CHECKPOINTS_PREFIX))].reverse();
  }

  async record(key: string): Promise<CheckpointRecord> {
    return decodeCheckpointRecord(key, await this.bench.bytes(key));
  }

  /** Puts a record in the place of one that says something else. */
  async forgeRecord(key: string, change: Partial<CheckpointRecord>): Promise<void> {
    const record = await this.record(key);
    await this.bench.put(key, encodeCheckpointRecord({ ...record, ...change }));
  }

  /** The same record at another sequence. @returns its key */
  async copyRecord(key: string, at: Sequence): Promise<string> {
    const record = await this.record(key);
    const mutation = sequence(Math.min(record.mutation, at));
    const copy = checkpointKey(at, record.root.epoch);
    await this.bench.put(copy, encodeCheckpointRecord({ ...record, sequence: at, mutation }));
    return copy;
  }

  /** The JSON of the root of a record. */
  async root(key: string): Promise<RootJson> {
    const { root } = await this.record(key);
    return JSON.parse(Buffer.from(await this.bench.bytes(rootKey(root))).toString());
  }

  /** Puts a root beside one, and a record in the place of its own. @returns its key */
  async forgeRoot(key: string, root: RootJson): Promise<string> {
    const { epoch } = (await this.record(key)).root;
    const bytes = Buffer.from(canonicalText(root as unknown as Json));
    const ref: RootRef = { epoch, hash: sha256Hex(bytes) };
    await this.bench.put(rootKey(ref), bytes);
    await this.forgeRecord(key, { root: ref });
    return rootKey(ref);
  }
}

interface RunJson {
  readonly after: number;
  readonly epoch: number;
  readonly hash: string;
  readonly through: number;
}

/** A root as it lies in the bucket. */
export interface RootJson {
  readonly schema: 2;
  readonly sequence: number;
  readonly packed_through: number;
  readonly base: { readonly position: number; readonly documents: number };
  readonly runs: readonly RunJson[];
  readonly records: readonly RunJson[];
  readonly packs: readonly {
    readonly first: number;
    readonly last: number;
    readonly hash: string;
  }[];
}
