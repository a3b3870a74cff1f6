/**
 * Goal: a store makes a checkpoint when one is due and another store was not quicker, at no other
 * time, and whatever fails is nobody's problem but a warning.
 * Method: the driver under virtual time with a compactor that notes what it is asked and does what
 * it is told; amounts and ages at and beside the bounds.
 */
import { describe, expect, test } from 'vitest';
import { silentLogger } from '../../bucketstore/base/diagnostics.ts';
import { StoreError } from '../../bucketstore/base/errors.ts';
import type { EnteredSlot } from '../../bucketstore/snapshot/load.ts';
import { AGAIN_MS_MAX, Background } from '../../checkpoint/background.ts';
import { uuidOf, write } from '../log/values.ts';
import { ManualClock } from '../support/manual-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Options {
  /** What chance gives, each time. */
  readonly draw?: number;
  readonly writes?: boolean;
}

class Scene {
  readonly clock = new ManualClock();
  readonly warnings: unknown[] = [];
  /** What was asked, and when. */
  readonly asked: (readonly [what: 'adopt' | 'compact', atMs: number])[] = [];
  readonly background: Background;
  /** The newest checkpoint that another store has made. */
  others = 0;
  /** What a compaction does before it has made a checkpoint at the tip. */
  works: (signal: AbortSignal) => Promise<void> = async () => undefined;
  #tip = 1;

  constructor({ draw = 0.5, writes = true }: Options = {}) {
    const { clock, warnings } = this;
    const logger = {
      ...silentLogger,
      warn: ({ err }: { readonly [key: string]: unknown }) => void warnings.push(err),
    };
    const random = { number: () => draw, uuid: () => uuidOf(1) };
    this.background = new Background({ clock, random, logger, storeId: uuidOf(2), writes });
  }

  start(): this {
    const noted = (what: 'adopt' | 'compact') => this.asked.push([what, this.clock.monotonic()]);
    this.background.start({
      adopt: async (known) => {
        noted('adopt');
        if (this.others > known) this.background.checkpoint(this.others);
        return null;
      },
      compact: async ({ signal } = {}) => {
        noted('compact');
        const tip = this.#tip;
        if (signal !== undefined) await this.works(signal);
        this.background.checkpoint(tip);
        return { newest: null, written: 1 };
      },
    });
    return this;
  }

  /** Times of compactions. */
  get compactions(): readonly number[] {
    return this.asked.flatMap(([what, at]) => (what === 'compact' ? [at] : []));
  }

  get tip(): number {
    return this.#tip;
  }

  /** Slots of so many mutations. */
  note(slots: number, mutations = 1, size = 1000): void {
    for (let i = 0; i < slots; i++) {
      const first = this.#tip + 1;
      this.#tip += mutations;
      const entries = Array.from({ length: mutations }, (_, n) => write(first + n));
      this.#enter({ slot: { first, last: this.#tip, entries }, hash: '', size });
    }
  }

  control(): void {
    this.#tip += 1;
    const entries = [{ kind: 'unpin', op: uuidOf(this.#tip), id: uuidOf(1) }];
    const slot = { first: this.#tip, last: this.#tip, entries };
    this.#enter({ slot, hash: '', size: 1000 });
  }

  #enter(read: unknown): void {
    this.background.note(read as EnteredSlot);
  }
}

describe('a checkpoint is made', () => {
  test('within 5 s when 1024 slots are behind, and not of 1023', async () => {
    const scene = new Scene().start();
    scene.note(1023);
    await scene.clock.advance(MINUTE - 1);
    expect(scene.asked).toEqual([]);
    scene.note(1);
    await scene.clock.advance(10_000);
    expect(scene.compactions).toEqual([MINUTE - 1 + 2_500]);
  });

  test('within 5 s when 32 MiB are behind, and not of a byte less', async () => {
    const scene = new Scene().start();
    scene.note(1, 1, 32 * 1024 * 1024 - 1);
    await scene.clock.advance(20_000);
    expect(scene.asked).toEqual([]);
    scene.note(1, 1, 1);
    await scene.clock.advance(10_000);
    expect(scene.compactions).toEqual([22_500]);
  });

  test('a minute after the oldest of 512 mutations, and not of 511', async () => {
    const scene = new Scene().start();
    await scene.clock.advance(HOUR);
    scene.note(1, 256);
    await scene.clock.advance(30_000);
    scene.note(1, 255);
    await scene.clock.advance(20_000);
    scene.note(1);
    await scene.clock.advance(10_000 + 7_499);
    expect(scene.asked).toEqual([]);
    await scene.clock.advance(1);
    expect(scene.compactions).toEqual([HOUR + MINUTE + 7_500]);
  });

  test('an hour after the oldest of fewer, and then not for another hour of nothing', async () => {
    const scene = new Scene().start();
    await scene.clock.advance(20 * HOUR);
    scene.note(1, 200);
    await scene.clock.advance(HOUR / 2);
    scene.note(1, 200);
    await scene.clock.advance(HOUR / 2 + 149_999);
    expect(scene.asked).toEqual([]);
    await scene.clock.advance(24 * HOUR);
    expect(scene.compactions).toEqual([21 * HOUR + 150_000]);
    const now = scene.clock.monotonic();
    scene.note(1);
    await scene.clock.advance(24 * HOUR);
    expect(scene.compactions.slice(1)).toEqual([now + HOUR + 150_000]);
  });

  test('of a trickle whenever 512 have come together', async () => {
    const scene = new Scene().start();
    for (let second = 0; second < 5_120; second++) {
      scene.note(1);
      await scene.clock.advance(1_000);
    }
    const between = scene.compactions.map((at, i) => at - (scene.compactions[i - 1] ?? 0));
    // What comes in the wait is in the checkpoint too; the next second begins anew.
    expect(between[0]).toBe(511_000 + 7_500);
    expect(new Set(between.slice(1))).toEqual(new Set([519_000]));
    expect(between).toHaveLength(9);
  });

  test('of what was behind when the store began', async () => {
    const scene = new Scene({ draw: 0 });
    scene.note(1024);
    scene.start();
    await scene.clock.advance(0);
    expect(scene.compactions).toEqual([0]);
  });

  test('of no control entry', async () => {
    const scene = new Scene().start();
    for (let i = 0; i < 2000; i++) scene.control();
    await scene.clock.advance(100 * HOUR);
    expect(scene.asked).toEqual([]);
    expect(scene.clock.sleeping).toBe(0);
  });
});

describe('the wait', () => {
  test('is drawn once: what comes meanwhile does not put it off', async () => {
    const scene = new Scene({ draw: 0.9 }).start();
    scene.note(1024);
    for (let i = 0; i < 60; i++) {
      await scene.clock.advance(100);
      scene.note(10);
    }
    expect(scene.compactions).toEqual([4_500]);
  });

  test('is cut short by a trigger that takes less', async () => {
    const scene = new Scene({ draw: 0.9 }).start();
    scene.note(1);
    await scene.clock.advance(HOUR + 1_000);
    scene.note(1023);
    await scene.clock.advance(10_000);
    expect(scene.compactions).toEqual([HOUR + 1_000 + 4_500]);
  });

  test('is not made longer by one', async () => {
    const scene = new Scene({ draw: 0.9 }).start();
    scene.note(512);
    await scene.clock.advance(MINUTE + 13_000);
    scene.note(512);
    await scene.clock.advance(2_000);
    expect(scene.compactions).toEqual([MINUTE + 13_500]);
  });

  test('lets another store make it: then there is one look, and nothing written', async () => {
    const scene = new Scene().start();
    scene.note(1024);
    scene.others = scene.tip - 10;
    await scene.clock.advance(10 * MINUTE);
    expect(scene.asked).toEqual([['adopt', 2_500]]);
  });

  test('of a store that only reads ends with a look, again and again', async () => {
    const scene = new Scene({ writes: false }).start();
    scene.note(1024);
    await scene.clock.advance(HOUR);
    expect(scene.compactions).toEqual([]);
    const looks = scene.asked.length;
    // At most two for each of the longest pauses, and the first few.
    expect(looks).toBeGreaterThan(HOUR / AGAIN_MS_MAX);
    expect(looks).toBeLessThan((2 * HOUR) / AGAIN_MS_MAX + 10);
    scene.others = scene.tip;
    await scene.clock.advance(AGAIN_MS_MAX);
    expect(scene.asked).toHaveLength(looks + 1);
    await scene.clock.advance(100 * HOUR);
    expect(scene.asked).toHaveLength(looks + 1);
  });
});

describe('a failure', () => {
  test('is warned of and tried again, later and later, until it passes', async () => {
    const scene = new Scene().start();
    const failure = new StoreError('UNAVAILABLE', 'the bucket does not answer');
    scene.works = async () => {
      throw failure;
    };
    scene.note(1024);
    await scene.clock.advance(2 * HOUR);
    const between = scene.compactions.slice(1).map((at, i) => at - (scene.compactions[i] ?? 0));
    const expected = [5, 10, 20, 40, 80, 160].map((seconds) => seconds * 750);
    expect(between.slice(0, 6)).toEqual(expected);
    expect(new Set(between.slice(6))).toEqual(new Set([AGAIN_MS_MAX * 0.75]));
    expect(scene.warnings).toEqual(scene.compactions.map(() => failure));
    scene.works = async () => undefined;
    await scene.clock.advance(AGAIN_MS_MAX);
    const made = scene.compactions.length;
    expect(scene.warnings).toHaveLength(made - 1);
    // And the next failure is the first of its row.
    scene.works = async () => {
      throw failure;
    };
    scene.note(1024);
    await scene.clock.advance(2_500 + 3_750);
    expect(scene.compactions).toHaveLength(made + 2);
  });

  test('of a sealed world ends it', async () => {
    const scene = new Scene().start();
    scene.works = async () => {
      throw new StoreError('SEALED', 'another incarnation lives here now');
    };
    scene.note(1024);
    await scene.clock.advance(HOUR);
    scene.note(1024);
    await scene.clock.advance(HOUR);
    expect(scene.compactions).toHaveLength(1);
    expect(scene.warnings).toEqual([]);
    expect(scene.clock.sleeping).toBe(0);
    await scene.background.close();
  });
});

describe('`close()`', () => {
  test.each([
    ['before it began', 0, 0],
    ['while nothing is behind', 0, 1],
    ['before a checkpoint is due', 1, 1],
    ['in the wait', 1024, 1],
  ])('ends at once %s', async (_, slots, startMs) => {
    const scene = new Scene();
    if (startMs > 0) scene.start();
    scene.note(slots);
    await scene.clock.advance(startMs);
    await scene.background.close();
    await scene.background.close();
    expect(scene.clock.sleeping).toBe(0);
    await scene.clock.advance(10 * HOUR);
    expect(scene.asked).toEqual([]);
  });

  test('ends a compaction, and waits for its end', async () => {
    const scene = new Scene({ draw: 0 }).start();
    const order: string[] = [];
    scene.works = async (signal) => {
      await scene.clock.sleep(HOUR, { signal }).catch(() => undefined);
      await scene.clock.sleep(5);
      order.push('ended');
      signal.throwIfAborted();
    };
    scene.note(1024);
    await scene.clock.advance(1_000);
    expect(scene.compactions).toHaveLength(1);
    const closed = scene.background.close().then(() => order.push('closed'));
    await scene.clock.run(closed);
    expect(order).toEqual(['ended', 'closed']);
    expect(scene.warnings).toEqual([]);
    await scene.clock.advance(10 * HOUR);
    expect(scene.asked).toHaveLength(2);
    expect(scene.clock.sleeping).toBe(0);
  });
});
