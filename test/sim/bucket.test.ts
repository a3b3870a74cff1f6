/**
 * Goal: the simulated bucket keeps the contract of the port when nothing is wrong, and a run of
 * several processes on it replays from its seed.
 * Method: the contract suite on a calm network whose time moves by itself; effects as lists; two
 * processes under all faults, with the decorators of a real store, compared by fingerprint.
 */
import { describe, expect, it, test } from 'vitest';
import { BlobError } from '../../blob/errors.ts';
import { decorateBucket } from '../../blob/open.ts';
import { createLimit } from '../../bucketstore/base/limit.ts';
import { blobContract } from '../contract/blob.ts';
import { Bench, BODY, driven, LOG, SERVER_OFFSET_MS, SLOT } from './bench.ts';
import { drawProfile } from './faults.ts';
import { EPOCH_MS, SimProcess } from './process.ts';
import { SimRandom } from './random.ts';

describe('contract on a calm network', () => {
  blobContract({ test, factory: () => ({ store: driven(new Bench()) }), scale: 0.2 });
});

describe('SimBucket', () => {
  it('tells every effect, in order, with its time and its process', async () => {
    const bench = new Bench();
    const { store } = bench;
    await bench.settle(store.create(SLOT, BODY));
    await bench.settle(store.create(SLOT, new Uint8Array(3)));
    await bench.settle(store.get(SLOT));
    await bench.settle(store.list({ prefix: LOG, limit: 10 }));
    await bench.settle(store.head(SLOT));
    await bench.settle(store.replace(SLOT, 'other', BODY));
    await bench.settle(store.delete(SLOT));
    await bench.settle(store.get(SLOT));
    const told = bench.effects.map(({ operation, outcome, bytes, process }) =>
      [operation, outcome, bytes?.length ?? '-', process].join(' '),
    );
    expect(told).toEqual([
      'create created 12 a',
      'create exists 3 a',
      'get found 12 a',
      'list listed - a',
      'head found - a',
      'replace changed 12 a',
      'delete deleted - a',
      'get absent - a',
    ]);
    const times = bench.effects.map(({ at }) => at);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times[0]).toBeGreaterThan(0);
  });

  it('dates its answers by its own clock at the effect, in whole seconds', async () => {
    const bench = new Bench();
    await bench.timeline.run(1_700);
    const result = await bench.settle(bench.store.get(SLOT));
    const at = bench.effects[0]?.at ?? 0;
    expect(result).toMatchObject({
      date: Math.floor((EPOCH_MS + SERVER_OFFSET_MS + at) / 1000) * 1000,
    });
  });

  it('overwrites in the mutant that does not check', async () => {
    const outcomes = async (mutant: boolean): Promise<readonly unknown[]> => {
      const bench = new Bench({}, 1, mutant);
      await bench.settle(bench.store.create(SLOT, BODY));
      const second = await bench.settle(bench.store.create(SLOT, new Uint8Array(3)));
      return [second, bench.bucket.peek(SLOT)?.bytes.length];
    };
    expect(await outcomes(false)).toMatchObject([{ outcome: 'exists' }, 12]);
    expect(await outcomes(true)).toMatchObject([{ outcome: 'created' }, 3]);
  });
});

describe('a whole run', () => {
  /** Two processes under all faults, with the decorators of a real store, then calm. */
  async function run(seed: number): Promise<Bench> {
    const bench = new Bench(drawProfile(new SimRandom(seed).fork('profile')), seed);
    const { timeline, coverage, faults } = bench;
    let ended = 0;
    for (const id of ['b', 'c']) {
      const process = new SimProcess({ timeline, coverage, id, wallOffsetMs: 77 });
      const chance = new SimRandom(seed).fork(`process ${id}`);
      const lanes = { commit: createLimit(4), read: createLimit(16), bulk: createLimit(4) };
      const options = { timing: process.clock, chance, lanes };
      const store = decorateBucket(bench.connect(process), { kind: 's3', model: false }, options);
      const act = async (i: number): Promise<void> => {
        const key = `${LOG}${chance.integer(20)}`;
        const kind = chance.integer(4);
        if (kind < 2) await store.create(key, BODY);
        else if (kind === 2) await store.get(key);
        else await store.list({ prefix: LOG, limit: 1 + i });
      };
      const work = async (): Promise<void> => {
        for (let i = 0; i < 100; i++) {
          await act(i).catch((error) => {
            if (!(error instanceof BlobError)) throw error;
          });
        }
        ended += 1;
      };
      void work();
      timeline.at(3_000, () => process.pause(700, 'monotonic'));
    }
    timeline.at(60_000, () => faults.calm());
    expect(await timeline.run(() => ended === 2, 3_600_000)).toBe(true);
    return bench;
  }

  it('replays from its seed, and differs from another', async () => {
    const [one, again, other] = [await run(5), await run(5), await run(6)];
    expect(again.timeline.fingerprint).toBe(one.timeline.fingerprint);
    expect(again.coverage.table()).toBe(one.coverage.table());
    expect(other.timeline.fingerprint).not.toBe(one.timeline.fingerprint);
    expect(one.effects.length).toBeGreaterThan(150);
    const faults = one.coverage.entries().filter(([name]) => name !== 'monotonic pause');
    expect(faults.length).toBeGreaterThan(3);
  });
});
