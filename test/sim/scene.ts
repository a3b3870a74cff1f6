/** All that the parts of one simulated run share, and how it begins. */
import { isBlobError } from '../../blob/errors.ts';
import { encodeMarker, genesisMarker } from '../../bucketstore/log/marker.ts';
import { MARKER_KEY } from '../../bucketstore/log/names.ts';
import { isStoreFailure } from './answers.ts';
import { SimBucket } from './bucket.ts';
import { Coverage } from './coverage.ts';
import { Damage } from './damage.ts';
import { liveBefore } from './earlier-life.ts';
import { CALM_PROFILE, drawProfile, Faults } from './faults.ts';
import { loadStore } from './mutants/load.ts';
import { GhostCheckpoints } from './oracle/ghost-checkpoints.ts';
import { GhostLog } from './oracle/ghost-log.ts';
import type { Plan } from './plan.ts';
import type { SimProcess } from './process.ts';
import { SimRandom } from './random.ts';
import { History } from './recorder.ts';
import { Timeline } from './time.ts';

export interface SceneOptions {
  /** A store with one rule broken. Default the sound one. */
  readonly mutant?: string | null | undefined;
  /** A bucket whose creates overwrite. */
  readonly createDoesNotCheck?: boolean | undefined;
  /** Is told every line of the trace. */
  readonly tracer?: ((line: string) => void) | undefined;
  /** What the network does. Default what the plan's seed draws. */
  readonly faults?: Faults | undefined;
}

export interface Scene {
  readonly plan: Plan;
  readonly store: Awaited<ReturnType<typeof loadStore>>;
  readonly timeline: Timeline;
  readonly bucket: SimBucket;
  readonly faults: Faults;
  readonly coverage: Coverage;
  readonly random: SimRandom;
  readonly ghost: GhostLog;
  readonly checkpoints: GhostCheckpoints;
  readonly damage: Damage;
  readonly history: History;
  /** Notes an error that is no answer of the store's; one that never may be is a violation. */
  readonly noteFailure: (process: SimProcess, where: string, error: unknown) => void;
}

/** A bucket that holds a new world, at time 0. */
export async function makeScene(plan: Plan, options: SceneOptions = {}): Promise<Scene> {
  const { mutant = null, createDoesNotCheck = false, tracer = null } = options;
  const seeded = new SimRandom(plan.seed);
  const timeline = new Timeline();
  timeline.tracer = tracer;
  const { serverOffsetMs, calm } = plan;
  const profile = calm ? CALM_PROFILE : drawProfile(seeded.fork('profile'));
  const ghost = new GhostLog();
  const history = new History(ghost);
  const bucket = new SimBucket({ timeline, serverOffsetMs, createDoesNotCheck });
  const checkpoints = new GhostCheckpoints(ghost);
  const coverage = new Coverage();
  const { keep } = plan;
  const damage = new Damage({ timeline, bucket, coverage, ghost, checkpoints, keep });
  const scene: Scene = {
    plan,
    store: await loadStore(mutant),
    timeline,
    bucket,
    faults: options.faults ?? new Faults(profile),
    coverage,
    random: seeded.fork('run'),
    ghost,
    checkpoints,
    damage,
    history,
    noteFailure: (process, where, error) => {
      timeline.trace(`${where} failed: ${String(error)}`);
      if (isBlobError(error) || (isStoreFailure(error) && error.code !== 'INTEGRITY')) return;
      // A store that finds its world damaged where it is not is wrong.
      if (damage.explains(error, process)) return;
      history.violations.push({ rule: 'integrity', detail: `${where}: ${String(error)}` });
    },
  };
  if (plan.earlierLife) {
    const parts = { ...scene, random: seeded.fork('earlier life') };
    const marker = await liveBefore(parts);
    watch(scene);
    ghost.landed(MARKER_KEY, marker, timeline.now);
    return scene;
  }
  watch(scene);
  const marker = genesisMarker(scene.random.uuid(), scene.random.uuid());
  scene.bucket.create(MARKER_KEY, encodeMarker(marker), 'genesis');
  return scene;
}

/** Shows the bucket's effects to the oracle. */
function watch({ bucket, ghost, checkpoints, coverage }: Scene): void {
  const freed = new Set<string>();
  const put = new Set<string>();
  bucket.onEffect(({ operation, key, bytes, outcome, process, at }) => {
    if (outcome === 'created' && bytes !== null) {
      ghost.landed(key, bytes, at);
      checkpoints.landed(key, bytes, process);
      if (freed.has(key)) coverage.count('reborn name');
    }
    if (operation === 'create' && outcome === 'exists' && bytes !== null) {
      const isRivals = checkpoints.refused(key, bytes, process);
      if (isRivals) coverage.count('record lost to a rival');
    }
    if (key.includes('/packs/')) {
      // Who puts a pack may read it back: that is no reader's.
      const read = `${process} ${key}`;
      if (operation === 'create') put.add(read);
      const isReaders = operation === 'get' && outcome === 'found' && !put.has(read);
      if (isReaders && freed.size > 0) coverage.count('read from a pack, with slots gone');
    }
    if (outcome === 'deleted') {
      ghost.removed(key, at);
      checkpoints.removed(key);
      freed.add(key);
    }
  });
}
