/**
 * Goal: a store that moves onto a newer checkpoint does so in short steps, says the same at every
 * moment, and loses nothing of what is written meanwhile; what a reload has overtaken is dropped.
 * Method: random logs with slots that enter between the steps, against a move at once; and stores
 * whose commits, reads and reloads fall between two steps.
 */
import { describe, expect, test } from 'vitest';
import { type Sequence, sequence } from '../../bucketstore/base/sequence.ts';
import type { ReadSlot } from '../../bucketstore/log/log.ts';
import type { BaseState } from '../../bucketstore/snapshot/base.ts';
import type { EnteredSlot } from '../../bucketstore/snapshot/load.ts';
import { REBASE_STEP } from '../../bucketstore/snapshot/rebase.ts';
import { REMEMBERED_MAX, Resting } from '../../bucketstore/snapshot/resting.ts';
import type { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import { hashOf, INCARNATION, WORLD, write } from '../log/values.ts';
import { EntryLog } from '../support/checkpoint-writer.ts';
import { withGates } from '../support/gated-bucket.ts';
import { isHeld } from '../support/held.ts';
import { LogWriter } from '../support/log-writer.ts';
import { drain } from '../support/manual-clock.ts';
import { atCheckpoint } from '../support/map-base.ts';
import { failureOf } from '../support/outcome.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { type BenchStore, WorldBench } from '../support/world-bench.ts';

/** A base of which the slots behind a sequence are in no pack, and that tells who looks into it. */
function watched(base: BaseState, packedThrough: number, onHead = () => {}): BaseState {
  return {
    sequence: base.sequence,
    documents: base.documents,
    packedThrough,
    head: (path) => {
      onHead();
      return base.head(path);
    },
    from: (path, within) => base.from(path, within),
    livePaths: (bodyHash) => base.livePaths(bodyHash),
    details: (path, options) => base.details(path, options),
    versions: (path, options) => base.versions(path, options),
  };
}

const enteredOf = ({ slot, hash, bytes }: ReadSlot): EnteredSlot => {
  return { slot, hash, size: bytes.byteLength };
};

async function everything(state: Snapshot): Promise<unknown> {
  const documents: unknown[] = [];
  // Where the details lie is for each to know: an archived document has them in its checkpoint.
  for (const [path, { details: _, ...head }] of state.changed()) {
    const versions = [...state.changedVersions(path)];
    documents.push([path, head, versions, await state.document(path)]);
  }
  const bodies = Array.from({ length: 50 }, (_, body) => state.lookupHash(hashOf(body)));
  const slots = [];
  for (let at = 2; at <= state.tip.sequence; at++) slots.push(state.slotOf(at));
  const lists = ['/', '/d1', '/d3', '/d3/x'].map((path) => state.list(path));
  const { tip, control, documentCount } = state;
  return { tip, control, documentCount, documents, bodies, slots, lists };
}

describe('a move in steps', () => {
  test.each([1, 2, 3])('while slots enter is a move at once behind them (log %i)', async (seed) => {
    const random = new SeededRandom(seed);
    const log = new LogWriter(random.derive('log'), { batch: 200, paths: 3_000 });
    log.writeTo(5_000);
    const ends = log.slots.map(({ slot }) => slot.last);
    const [at, from] = [ends[ends.length >> 2], ends[ends.length >> 1]] as [Sequence, Sequence];
    const packed = sequence(at - 300);
    const base = watched(atCheckpoint(log.stateAt(at)).base, packed);
    const resting = new Resting();
    const later = log.slots.filter(({ slot }) => slot.first > from);
    let served: Snapshot | null = null;
    const steps = resting.steps(log.stateAt(from), base, (moved) => {
      served = moved;
    });
    let yields = 0;
    for (let step = steps.next(); step.done !== true; step = steps.next()) {
      yields += 1;
      for (let n = random.integer(3); n > 0; n--) {
        const next = later.shift();
        if (next !== undefined) resting.enter(enteredOf(next));
      }
    }
    expect(yields).toBeGreaterThan(3);
    expect(resting.behind).toBe(0);
    const tip = (later[0]?.slot.first ?? log.state.tip.sequence + 1) - 1;
    expect(tip).toBeGreaterThan(from);
    const atOnce = log.stateAt(sequence(tip)).rebase(base, at, packed);
    if (served === null) throw new Error('nothing was served');
    expect(await everything(served)).toEqual(await everything(atOnce));
  });

  test('looks at no more than so many documents between two turns', () => {
    const log = new LogWriter(new SeededRandom(4), { batch: 250, paths: 5_000 });
    log.writeTo(5_000);
    const state = log.state;
    let looks = 0;
    const { base } = atCheckpoint(log.stateAt(log.slots[0]?.slot.last ?? state.tip.sequence));
    const counting = watched(base, 1, () => {
      looks += 1;
    });
    const resting = new Resting();
    const all: number[] = [];
    const take = (): void => {
      all.push(looks);
      looks = 0;
    };
    const steps = resting.steps(state, counting, () => undefined);
    for (let step = steps.next(); step.done !== true; step = steps.next()) take();
    take();
    const documents = [...state.changed()].length;
    expect(Math.max(...all)).toBeLessThanOrEqual(REBASE_STEP);
    expect(all.reduce((sum, one) => sum + one, 0)).toBe(documents);
    expect(documents).toBeGreaterThan(4 * REBASE_STEP);
  });

  test('pauses within a document of many versions too', () => {
    const log = new EntryLog({ worldId: WORLD, incarnationId: INCARNATION });
    const versions = 3 * REBASE_STEP;
    for (let version = 1; version <= versions; version++) {
      const change = { path: '/a.md', version, bodyHash: hashOf(version) };
      expect(log.add(version + 1, write(version + 1, change))).toBe(true);
    }
    const { base } = atCheckpoint(log.state(2));
    let yields = 0;
    let kept = 0;
    const steps = new Resting().steps(log.end, base, (moved) => {
      kept = [...moved.changedVersions('/a.md')].length;
    });
    for (const _ of steps) yields += 1;
    expect(kept).toBe(versions - 1);
    expect(yields).toBeGreaterThanOrEqual(versions / REBASE_STEP);
  });

  test('applies no more entries between two turns than two slots can have', () => {
    const log = new LogWriter(new SeededRandom(6), { batch: 250, paths: 100 });
    log.writeTo(6_000);
    const from = log.slots[0]?.slot.last ?? log.state.tip.sequence;
    const resting = new Resting();
    for (const read of log.slots.slice(1)) resting.enter(enteredOf(read));
    const all: number[] = [];
    let before = resting.behind;
    expect(before).toBe(log.state.tip.sequence - from);
    const steps = resting.steps(log.stateAt(from), atCheckpoint(log.stateAt(from)).base, () => {});
    for (let step = steps.next(); step.done !== true; step = steps.next()) {
      all.push(before - resting.behind);
      before = resting.behind;
    }
    expect(all.length).toBeGreaterThan(10);
    expect(Math.max(...all)).toBeLessThan(2 * 256);
  });

  test('remembers a bounded number of entries, and is given up beyond', () => {
    const log = new LogWriter(new SeededRandom(7), { batch: 50, paths: 2_000 });
    log.writeTo(3_000);
    const resting = new Resting();
    const { base } = atCheckpoint(log.stateAt(log.slots[0]?.slot.last ?? log.state.tip.sequence));
    let served = false;
    const steps = resting.steps(log.state, base, () => {
      served = true;
    });
    expect(steps.next().done).toBe(false);
    const entries = Array.from({ length: 256 }, (_, n) => write(n));
    const read = { slot: { entries }, hash: '', size: 1 } as unknown as EnteredSlot;
    let most = 0;
    for (let n = 0; n <= REMEMBERED_MAX / 256; n++) {
      resting.enter(read);
      most = Math.max(most, resting.behind);
    }
    expect(most).toBe(REMEMBERED_MAX);
    expect(resting.behind).toBe(0);
    expect(steps.next()).toEqual({ done: true, value: false });
    expect(served).toBe(false);
  });
});

/** More documents than are looked at in one step. */
const DOCUMENTS = 5 * REBASE_STEP;

async function filled(bench: WorldBench, store: BenchStore): Promise<void> {
  const publish = (n: number) => {
    return store.world.publish({ path: `/${n}.md`, expected: 'any', body: `body ${n}` });
  };
  await bench.run(Promise.all(Array.from({ length: DOCUMENTS }, (_, n) => publish(n))));
}

const put = ({ world }: BenchStore, path: string, n = 0) => {
  return world.publish({ path, expected: 'any', body: `later ${n} ${path}` });
};

/** Runs `act` at the first turn, and counts the turns. */
function atFirstTurn(act: () => Promise<unknown>): { turn: () => Promise<void>; turns: number } {
  const counted = {
    turns: 0,
    turn: async (): Promise<void> => {
      counted.turns += 1;
      if (counted.turns === 1) await act();
    },
  };
  return counted;
}

describe('a store', () => {
  test('serves what is written while it moves, and its views keep what they hold', async () => {
    const bench = new WorldBench();
    const store = await bench.store();
    const { follower } = store.parts;
    await filled(bench, store);
    const before = follower.snapshot;
    const view = store.world.view();
    expect(await bench.run(view.listEntries('/'))).toHaveLength(DOCUMENTS);
    const checkpoint = atCheckpoint(before);
    const first = atFirstTurn(() =>
      bench.run(Promise.all([put(store, '/x'), put(store, '/0.md')])),
    );
    expect(await follower.rest(checkpoint.base, first.turn)).toBe(true);
    expect(first.turns).toBeGreaterThan(2);
    expect(follower.snapshot.base).toBe(checkpoint.base);
    expect([...follower.snapshot.changed()].map(([path]) => path)).toEqual(['/0.md', '/x']);
    expect(follower.snapshot.documentCount).toBe(DOCUMENTS + 1);
    expect((await bench.run(store.world.view().get('/0.md'))).version).toBe(2);
    // What is held is as it was.
    expect([...before.changed()]).toHaveLength(DOCUMENTS);
    expect((await bench.run(view.get('/0.md'))).version).toBe(1);
    // The log says the same.
    const other = await bench.store();
    expect(other.parts.follower.snapshot.list('/')).toEqual(follower.snapshot.list('/'));
    expect(other.parts.follower.snapshot.tip).toEqual(follower.snapshot.tip);
  });

  test('lets a state go that a reload has overtaken', async () => {
    const bench = new WorldBench();
    const store = await bench.store();
    const peer = await bench.store();
    const { follower } = store.parts;
    await filled(bench, store);
    const { base } = follower.snapshot;
    const first = atFirstTurn(async () => {
      await bench.run(put(peer, '/x'));
      await bench.run(follower.reload());
    });
    expect(await follower.rest(atCheckpoint(follower.snapshot).base, first.turn)).toBe(false);
    expect(first.turns).toBe(1);
    expect(follower.snapshot.base).toBe(base);
    expect(follower.snapshot.documentCount).toBe(DOCUMENTS + 1);
    expect(await follower.rest(atCheckpoint(follower.snapshot).base, async () => undefined)).toBe(
      true,
    );
  });

  test('goes on with a move when a reload finds nothing newer', async () => {
    const bench = new WorldBench();
    const store = await bench.store();
    const { follower } = store.parts;
    await filled(bench, store);
    const first = atFirstTurn(() => bench.run(follower.reload()));
    expect(await follower.rest(atCheckpoint(follower.snapshot).base, first.turn)).toBe(true);
  });

  test('moves onto one checkpoint at a time: the later call counts', async () => {
    const bench = new WorldBench();
    const store = await bench.store();
    const { follower } = store.parts;
    await filled(bench, store);
    const [one, other] = [atCheckpoint(follower.snapshot), atCheckpoint(follower.snapshot)];
    let second: Promise<boolean> | null = null;
    const first = atFirstTurn(async () => {
      second = follower.rest(other.base, drain);
    });
    expect(await follower.rest(one.base, first.turn)).toBe(false);
    expect(await second).toBe(true);
    expect(follower.snapshot.base).toBe(other.base);
    // Neither an older one nor one beyond its tip.
    expect(await follower.rest(one.base, drain)).toBe(false);
  });

  test('is as it was when a move is ended, or the checkpoint is wrong', async () => {
    const bench = new WorldBench();
    const store = await bench.store();
    const { follower } = store.parts;
    await filled(bench, store);
    const before = follower.snapshot;
    const reason = new Error('ended');
    const ended = follower.rest(atCheckpoint(before).base, async () => {
      throw reason;
    });
    expect(await failureOf(ended)).toBe(reason);
    const { base } = atCheckpoint(before);
    const wrong = watched(base, 1);
    const bad = {
      ...wrong,
      head: (path: string) => (path === '/999.md' ? undefined : base.head(path)),
    };
    const refused = follower.rest(bad, drain);
    expect(await failureOf(refused)).toMatchObject({
      code: 'INTEGRITY',
      details: { object: '/999.md' },
    });
    expect(follower.snapshot).toBe(before);
    await bench.run(put(store, '/x'));
    expect(follower.snapshot.documentCount).toBe(DOCUMENTS + 1);
  });
});

describe('a slot that is being created while its store moves', () => {
  test('is served on the newer checkpoint, and so is what was built ahead of it', async () => {
    const bench = new WorldBench();
    const gated = withGates(bench.bucket);
    const store = await bench.store({ bucket: gated.store, settings: { batchMax: 80 } });
    const { follower } = store.parts;
    await filled(bench, store);
    // An older base that is an object of its own.
    const older = await (async (): Promise<WeakRef<object>> => {
      const { base } = atCheckpoint(follower.snapshot);
      await follower.rest(base, drain);
      return new WeakRef(base);
    })();
    expect(await isHeld(older)).toBe(true);
    await bench.run(put(store, '/between'));
    const held = gated.hold('answer', ({ operation, key }) => {
      return operation === 'create' && key.includes('/log/');
    });
    // Two versions of each, so that what is built ahead rests on what is under way.
    const paths = Array.from({ length: 130 }, (_, n) => `/${n % 65}.md`);
    const written = paths.map((path, n) => put(store, path, n));
    for (let i = 0; i < 20; i++) await drain();
    expect(held.waiting).toBe(1);
    const checkpoint = atCheckpoint(follower.snapshot);
    expect(await follower.rest(checkpoint.base, drain)).toBe(true);
    await held.open();
    const results = await bench.run(Promise.all(written));
    expect(results.map(({ document }) => document.version)).toEqual(
      paths.map((_, n) => (n < 65 ? 2 : 3)),
    );
    expect(follower.snapshot.base).toBe(checkpoint.base);
    expect([...follower.snapshot.changed()]).toHaveLength(65);
    const other = await bench.store();
    const state = other.parts.follower.snapshot;
    expect(state.tip).toEqual(follower.snapshot.tip);
    for (const path of paths) {
      expect(await state.versions(path)).toEqual(await follower.snapshot.versions(path));
    }
    await bench.run(store.world.publish({ path: '/end', expected: 'any', body: 'end' }));
    expect(await isHeld(older)).toBe(false);
  });
});
