/**
 * Goal: the figures that the committer is built for, of one store and of several on one world.
 * Method: real stores in virtual time, over memory behind the latency model; code takes no time
 * there, so what is shown is what the rules give.
 */
import { expect, test } from 'vitest';
import { withLatencyModel } from '../../blob/model.ts';
import type { World } from '../../bucketstore/index.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { WorldBench } from '../support/world-bench.ts';

/** The model's median create, ms. */
const C_MS = 40;
const BODY = 'x'.repeat(1_000);
const DOCUMENTS = 1_000;

interface Load {
  readonly stores: number;
  readonly batchMax: number;
  /** Writes a second of each store, or its clients that each wait for their answer. */
  readonly perSecond?: number;
  readonly clients?: number;
  readonly seconds: number;
  /** Left out at the beginning. */
  readonly droppedSeconds: number;
}

interface Figures {
  /** Of each store, sorted, ms. */
  readonly latencies: readonly (readonly number[])[];
  readonly writesPerSecond: number;
}

async function figuresOf(load: Load): Promise<Figures> {
  const bench = new WorldBench();
  const { clock } = bench;
  const worlds: World[] = [];
  for (let store = 0; store < load.stores; store++) {
    const chance = bench.random.derive(`bucket ${store}`);
    const bucket = withLatencyModel(bench.bucket, { timing: clock, chance, model: 'gcs' });
    worlds.push(await bench.open({ bucket, settings: { batchMax: load.batchMax } }));
  }
  const untilMs = clock.monotonic() + load.seconds * 1000;
  const fromMs = clock.monotonic() + load.droppedSeconds * 1000;
  const runs = worlds.map((world, store) => {
    return new Writers(bench, world, bench.random.derive(`store ${store}`), { fromMs, untilMs });
  });
  await bench.run(Promise.all(runs.map((writers) => writers.run(load))));
  await bench.run(Promise.all(worlds.map((world) => world.close())));
  const latencies = runs.map(({ latencies: each }) => [...each].sort((a, b) => a - b));
  const writes = latencies.reduce((sum, { length }) => sum + length, 0);
  return { latencies, writesPerSecond: writes / (load.seconds - load.droppedSeconds) };
}

class Writers {
  readonly latencies: number[] = [];
  readonly #bench: WorldBench;
  readonly #world: World;
  readonly #random: SeededRandom;
  readonly #period: { readonly fromMs: number; readonly untilMs: number };
  #count = 0;

  constructor(
    bench: WorldBench,
    world: World,
    random: SeededRandom,
    period: { readonly fromMs: number; readonly untilMs: number },
  ) {
    this.#bench = bench;
    this.#world = world;
    this.#random = random;
    this.#period = period;
  }

  async run({ perSecond, clients = 0 }: Load): Promise<void> {
    const { clock } = this.#bench;
    const isOver = (): boolean => clock.monotonic() >= this.#period.untilMs;
    const work = Array.from({ length: clients }, async () => {
      await clock.sleep(this.#random.number() * C_MS);
      while (!isOver()) await this.#write();
    });
    while (perSecond !== undefined && !isOver()) {
      await clock.sleep((-Math.log(1 - this.#random.number()) * 1000) / perSecond);
      work.push(this.#write());
    }
    await Promise.all(work);
  }

  async #write(): Promise<void> {
    const { clock } = this.#bench;
    const startedAt = clock.monotonic();
    const path = `/${this.#random.integer(DOCUMENTS)}.md`;
    const body = `${BODY}${this.#count++}`;
    await this.#world.publish({ path, expected: 'any', body }, { deadlineMs: 60_000 });
    const now = clock.monotonic();
    if (startedAt < this.#period.fromMs || now >= this.#period.untilMs) return;
    this.latencies.push(now - startedAt);
  }
}

function at(sorted: readonly number[] = [], share: number): number {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
}

test('one store at 200 writes/s: p50 at most 1.8 c, p99 at most 3 c', async () => {
  const load = { stores: 1, batchMax: 256, perSecond: 200, seconds: 25, droppedSeconds: 5 };
  const [alone] = (await figuresOf(load)).latencies;
  expect(at(alone, 0.5)).toBeLessThanOrEqual(1.8 * C_MS);
  expect(at(alone, 0.99)).toBeLessThanOrEqual(3 * C_MS);
});

test('a lone write takes one create', async () => {
  const load = { stores: 1, batchMax: 256, perSecond: 1, seconds: 60, droppedSeconds: 0 };
  const [alone] = (await figuresOf(load)).latencies;
  expect(at(alone, 0.5)).toBeLessThanOrEqual(1.3 * C_MS);
});

test('three stores at 60 writes/s: p50 at most 4 c, p99 at most 9 c', async () => {
  const load = { stores: 3, batchMax: 256, perSecond: 60, seconds: 25, droppedSeconds: 5 };
  for (const latencies of (await figuresOf(load)).latencies) {
    expect(at(latencies, 0.5)).toBeLessThanOrEqual(4 * C_MS);
    expect(at(latencies, 0.99)).toBeLessThanOrEqual(9 * C_MS);
  }
});

test('three saturated stores: even shares, and 0.85 of what one store writes', async () => {
  const load = { batchMax: 32, clients: 200, seconds: 20, droppedSeconds: 5 };
  const alone = await figuresOf({ ...load, stores: 1 });
  const { latencies, writesPerSecond } = await figuresOf({ ...load, stores: 3 });
  expect(writesPerSecond).toBeGreaterThanOrEqual(0.85 * alone.writesPerSecond);
  const writes = latencies.reduce((sum, { length }) => sum + length, 0);
  for (const { length } of latencies) {
    expect(length / writes).toBeGreaterThanOrEqual(0.25);
    expect(length / writes).toBeLessThanOrEqual(0.42);
  }
});
