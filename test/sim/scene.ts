/** All that the parts of one simulated run share, and how it begins. */
import { isBlobError } from '../../blob/errors.ts';
import { encodeMarker, genesisMarker } from '../../bucketstore/log/marker.ts';
import { isStoreFailure } from './answers.ts';
import { SimBucket } from './bucket.ts';
import { Coverage } from './coverage.ts';
import { CALM_PROFILE, drawProfile, Faults } from './faults.ts';
import { loadStore } from './mutants/load.ts';
import { GhostLog } from './oracle/ghost-log.ts';
import type { Plan } from './plan.ts';
import { SimRandom } from './random.ts';
import { History } from './recorder.ts';
import { Shelf } from './shelf.ts';
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
  readonly shelf: Shelf;
  readonly ghost: GhostLog;
  readonly history: History;
  /** Notes an error that is no answer of the store's; one that never may be is a violation. */
  readonly noteFailure: (where: string, error: unknown) => void;
}

const MARKER_KEY = '_demarkus/v1/head.json';

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
  const scene: Scene = {
    plan,
    store: await loadStore(mutant),
    timeline,
    bucket: new SimBucket({ timeline, serverOffsetMs, createDoesNotCheck }),
    faults: options.faults ?? new Faults(profile),
    coverage: new Coverage(),
    random: seeded.fork('run'),
    shelf: new Shelf(),
    ghost,
    history,
    noteFailure: (where, error) => {
      timeline.trace(`${where} failed: ${String(error)}`);
      // A store that finds its world damaged here is wrong: nothing is.
      if (isBlobError(error) || (isStoreFailure(error) && error.code !== 'INTEGRITY')) return;
      history.violations.push({ rule: 'integrity', detail: `${where}: ${String(error)}` });
    },
  };
  watch(scene);
  const marker = genesisMarker(scene.random.uuid(), scene.random.uuid());
  scene.bucket.create(MARKER_KEY, encodeMarker(marker), 'genesis');
  return scene;
}

/** Shows the bucket's effects to the oracle and to the shelf. */
function watch({ bucket, ghost, shelf, coverage }: Scene): void {
  const freed = new Set<string>();
  bucket.onEffect(({ key, bytes, outcome, at }) => {
    if (outcome === 'created' && bytes !== null) {
      ghost.landed(key, bytes, at);
      if (key.includes('/log/')) shelf.keepSlot(key, bytes);
      if (freed.has(key)) coverage.count('reborn name');
    }
    if (outcome === 'deleted') {
      ghost.removed(key, at);
      freed.add(key);
    }
  });
}
