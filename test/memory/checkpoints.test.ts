/**
 * Goal: what a store keeps of checkpoints is let go with the last state that rests on it (I17): the
 * columns of runs, and what was read of objects.
 * Method: two checkpoints of one log, of which the second has none of the first one's runs but the
 * empty ones; weak references tell what is still held.
 */
import { describe, expect, test } from 'vitest';
import { createMemoryBucket } from '../../blob/memory.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { genesisMarker } from '../../bucketstore/log/marker.ts';
import { applyEntry } from '../../bucketstore/snapshot/apply.ts';
import { SnapshotDraft } from '../../bucketstore/snapshot/draft.ts';
import type { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import { CheckpointCache } from '../../checkpoint/checkpoint-cache.ts';
import { CheckpointLoader } from '../../checkpoint/load.ts';
import { RunsState } from '../../checkpoint/runs-state.ts';
import { INCARNATION, WORLD, write } from '../log/values.ts';
import { EntryLog, writeCheckpoint } from '../support/checkpoint-writer.ts';
import { isHeld } from '../support/held.ts';
import { ManualClock } from '../support/manual-clock.ts';

const START = genesisMarker(WORLD, INCARNATION).start;

async function scene() {
  const bucket = createMemoryBucket({ timing: new ManualClock() });
  const log = new EntryLog({ worldId: WORLD, incarnationId: INCARNATION });
  for (let at = 2; at <= 40; at++) expect(log.add(at, write(at))).toBe(true);
  const older = await writeCheckpoint(bucket, log, 20);
  const newer = await writeCheckpoint(bucket, log, 40);
  const loader = new CheckpointLoader({ bucket, start: START });
  return { log, loader, older: older.record, newer: newer.record };
}

type Scene = Awaited<ReturnType<typeof scene>>;

/** The columns of a state's last run. In functions of their own, so that no frame holds them. */
function columnsOf({ base }: Snapshot): WeakRef<object> {
  const last = base instanceof RunsState ? base.runs.at(-1)?.columns : undefined;
  if (last === undefined || last.rows === 0) throw new Error('no columns were loaded');
  return new WeakRef(last);
}

async function loaded({ loader, older }: Scene): Promise<[Snapshot, WeakRef<object>]> {
  const state = await loader.load(older);
  return [state, columnsOf(state)];
}

describe('the columns of a run', () => {
  test('are held by the loader while no newer checkpoint was loaded', async () => {
    const parts = await scene();
    const [, columns] = await loaded(parts);
    expect(await isHeld(columns)).toBe(true);
    expect(parts.loader.cache.cachedBytes).toBe(0);
  });

  test('are let go with the last state that rests on them', async () => {
    const parts = await scene();
    const held: Snapshot[] = [];
    const columns = await (async () => {
      const [state, reference] = await loaded(parts);
      held.push(state);
      return reference;
    })();
    await parts.loader.load(parts.newer);
    expect(await isHeld(columns)).toBe(true);
    expect(held.pop()?.documentCount).toBe(19);
    expect(await isHeld(columns)).toBe(false);
  });

  test('are let go by a state that moves to a newer checkpoint', async () => {
    const parts = await scene();
    const served: Snapshot[] = [];
    const columns = await (async () => {
      const [state, reference] = await loaded(parts);
      const draft = new SnapshotDraft(state);
      for (const { at, entry } of parts.log.within({
        after: sequence(20),
        through: sequence(40),
      })) {
        expect(applyEntry(draft, entry, at)).toBeNull();
      }
      draft.endSlot({ ...parts.log.end.slotOf(40), time: 40 } as never, parts.log.end.tip.hash);
      const { base } = await parts.loader.load(parts.newer);
      served.push(draft.freeze().rebase(base, sequence(40)));
      return reference;
    })();
    expect(served[0]?.documentCount).toBe(39);
    expect([...(served[0]?.changed() ?? [])]).toEqual([]);
    expect(await isHeld(columns)).toBe(false);
  });
});

describe('what a cache has let go', () => {
  async function read(cache: CheckpointCache, name: string): Promise<WeakRef<object>> {
    const value = { bytes: 1_000 };
    await cache.get(
      name,
      ({ bytes }) => bytes,
      async () => value,
      undefined,
    );
    return new WeakRef(value);
  }

  test('is not held: the oldest goes first, and what is too large at once', async () => {
    const cache = new CheckpointCache(20_000);
    const first = await read(cache, 'first');
    expect(await isHeld(first)).toBe(true);
    for (let i = 0; i < 20; i++) await read(cache, `${i}`);
    expect(await isHeld(first)).toBe(false);
    expect(cache.cachedBytes).toBeLessThanOrEqual(20_000);
    const large = await read(new CheckpointCache(9_000), 'large');
    expect(await isHeld(large)).toBe(false);
  });
});
