/**
 * A location in memory under virtual time, and stores opened on it: what most tests of the store
 * need.
 */
import type { BlobStore } from '../../blob/blob.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import type { Logger } from '../../bucketstore/base/diagnostics.ts';
import type { OpenOptions, Settings } from '../../bucketstore/index.ts';
import type { Slot } from '../../bucketstore/log/records.ts';
import { decodeSlot } from '../../bucketstore/log/slot.ts';
import { openStore } from '../../bucketstore/open.ts';
import type { CheckpointSource } from '../../bucketstore/snapshot/load.ts';
import { World, type WorldParts } from '../../bucketstore/world.ts';
import { ManualClock } from './manual-clock.ts';
import { SeededRandom } from './seeded-random.ts';

export interface BenchOpen extends Omit<OpenOptions, 'components' | 'settings'> {
  readonly settings?: Partial<Settings>;
  /** What this store talks to. Default the bench's bucket itself. */
  readonly bucket?: BlobStore;
  /** Where it loads checkpoints from. Default nowhere. */
  readonly checkpoints?: CheckpointSource;
  readonly logger?: Logger;
}

/** A store's public face, and the parts that it is made of. */
export interface BenchStore {
  readonly world: World;
  readonly parts: WorldParts;
}

export class WorldBench {
  readonly clock: ManualClock = new ManualClock();
  readonly random: SeededRandom;
  /** The location, without anything in between. */
  readonly bucket: BlobStore;

  constructor(seed = 1) {
    this.random = new SeededRandom(seed);
    this.bucket = createMemoryBucket({ timing: this.clock, name: 'memory:bench' });
  }

  /** Opens one more store; the first makes the world. Moves time as far as that takes. */
  open(options: BenchOpen = {}): Promise<World> {
    return this.run(this.opening(options));
  }

  /** As `open`, with the parts: for what is built beside the face. */
  async store(options: BenchOpen = {}): Promise<BenchStore> {
    const parts = await this.run(this.#opening(options));
    return { world: new World(parts), parts };
  }

  /** As `open`, for who moves time, or lets calls pass, by other means. */
  async opening(options: BenchOpen = {}): Promise<World> {
    return new World(await this.#opening(options));
  }

  /** Moves time until `work` settles. */
  run<T>(work: Promise<T>): Promise<T> {
    return this.clock.run(work);
  }

  /** All keys below a prefix of the location. */
  async keys(prefix = ''): Promise<readonly string[]> {
    const keys: string[] = [];
    for (;;) {
      const page = await this.bucket.list({ prefix, after: keys.at(-1), limit: 1000 });
      for (const { key } of page.objects) keys.push(key);
      if (!page.more) return keys;
    }
  }

  /** The bytes of an object that must be there. */
  async bytes(key: string): Promise<Uint8Array> {
    const found = await this.bucket.get(key);
    if (!found.found) throw new Error(`${key} is not there`);
    return found.bytes;
  }

  /** The slots of the log, in order. */
  async slots(): Promise<readonly Slot[]> {
    const keys = await this.keys('_demarkus/v1/log/');
    return Promise.all(keys.map(async (key) => decodeSlot(key, await this.bytes(key)).slot));
  }

  /** Puts other bytes in the place of an object, or makes one. */
  async put(key: string, bytes: Uint8Array | string): Promise<void> {
    await this.bucket.delete(key);
    await this.bucket.create(key, typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
  }

  #opening({
    bucket = this.bucket,
    settings: asked = {},
    checkpoints,
    logger,
    ...options
  }: BenchOpen): Promise<WorldParts> {
    const { clock, random } = this;
    // Requests are counted and time is moved by hours: what is not asked for would be in the way.
    const settings = { compact: false, ...asked };
    const components = {
      clock,
      random,
      bucket,
      ...(checkpoints === undefined ? {} : { checkpoints }),
      ...(logger === undefined ? {} : { logger }),
    };
    return openStore('memory:bench', { create: true, ...options, settings, components });
  }
}
