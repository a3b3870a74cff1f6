/**
 * A location in which a world lived before: its slots, its checkpoint and its seal lie below the
 * start of the life that a run is about, and must never be taken for anything of that.
 */
import { withDeadline, withRetry } from '../../blob/index.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { encodeMarker, genesisMarker } from '../../bucketstore/log/marker.ts';
import { MARKER_KEY } from '../../bucketstore/log/names.ts';
import type { SimBucket } from './bucket.ts';
import { connect } from './client.ts';
import { Coverage } from './coverage.ts';
import { CALM_PROFILE, Faults } from './faults.ts';
import type { loadStore } from './mutants/load.ts';
import { SimProcess } from './process.ts';
import type { SimRandom } from './random.ts';
import type { Timeline } from './time.ts';

export interface EarlierLifeParts {
  readonly store: Awaited<ReturnType<typeof loadStore>>;
  readonly timeline: Timeline;
  readonly bucket: SimBucket;
  readonly random: SimRandom;
}

/** Documents that the life after it is asked for too. */
const PATHS = ['/a.md', '/b.md', '/guide/c.md', '/own/0-0.md', '/before.md'] as const;
const ROUNDS = 4;
const LIMIT_MS = 600_000;

/**
 * Lives and ends by a seal; then its marker is replaced, as when a world that was rolled back is
 * migrated again, by one that starts with nothing behind the seal.
 * @returns the bytes of the new marker
 */
export async function liveBefore(parts: EarlierLifeParts): Promise<Uint8Array> {
  const { timeline, bucket, random } = parts;
  const before = genesisMarker(random.uuid(), random.uuid());
  const attributes = bucket.create(MARKER_KEY, encodeMarker(before), 'before');
  const process = new SimProcess({ timeline, coverage: new Coverage(), id: 'before' });
  let ended = false;
  const end = (): void => {
    ended = true;
  };
  const living = live(parts, process);
  living.then(end, end);
  if (!(await timeline.run(() => ended, LIMIT_MS))) throw new Error('an earlier life never ends');
  const tip = await living;
  process.crash();
  const start = { sequence: sequence(tip), documents: 0, epoch: 2, root: null };
  const marker = encodeMarker({ ...before, incarnationId: random.uuid(), start });
  bucket.replace(MARKER_KEY, attributes?.generation ?? '', marker, 'before');
  return marker;
}

/** @returns its last sequence */
async function live(
  { store, timeline, bucket, random }: EarlierLifeParts,
  process: SimProcess,
): Promise<number> {
  const faults = new Faults(CALM_PROFILE);
  faults.calm();
  const { clock } = process;
  const client = connect(timeline, bucket, process, faults, random, new Coverage());
  const timing = { timing: clock, chance: random.fork('bucket before') };
  const patient = withRetry(withDeadline(client, timing), timing);
  const components = { clock, random: random.fork('store before'), bucket: patient };
  const parts = await store.openStore('memory:', { components, settings: { compact: false } });
  const world = new store.World(parts);
  for (let round = 0; round < ROUNDS; round++) {
    const group = PATHS.map((path) => {
      const body = `${path} in an earlier life, ${round}\n`;
      return { kind: 'publish', path, body, expected: 'any' } as const;
    });
    await world.commit(group);
  }
  await world.compact();
  const op = random.uuid();
  const seal = () => ({ kind: 'seal', op, reason: 'rollback' }) as const;
  await parts.committer.control(op, seal, { deadlineMs: 10_000 });
  return (await world.stat()).sequence;
}
