/** One seed from its plan to its verdict. */
import { channel } from 'node:diagnostics_channel';
import { isBlobError } from '../../blob/errors.ts';
import { encodeMarker, genesisMarker } from '../../bucketstore/log/marker.ts';
import { isStoreFailure } from './answers.ts';
import { SimBucket } from './bucket.ts';
import { Coverage } from './coverage.ts';
import { drawProfile, Faults } from './faults.ts';
import { finish } from './finish.ts';
import type { Violation } from './history.ts';
import { SimStore } from './life.ts';
import { loadStore } from './mutants/load.ts';
import { check } from './oracle/checks.ts';
import { GhostLog } from './oracle/ghost-log.ts';
import type { Plan, PlanEvent } from './plan.ts';
import { SimRandom } from './random.ts';
import { History } from './recorder.ts';
import type { Scene } from './scene.ts';
import { Shelf } from './shelf.ts';
import { Sweeper } from './sweeper.ts';
import { Timeline } from './time.ts';
import { look } from './viewer.ts';
import { Writers } from './writer.ts';

export interface RunOptions {
  /** A store with one rule broken. Default the sound one. */
  readonly mutant?: string | null | undefined;
  /** A bucket whose creates overwrite. */
  readonly createDoesNotCheck?: boolean | undefined;
  /** Is told every line of the trace. */
  readonly tracer?: ((line: string) => void) | undefined;
}

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly coverage: Coverage;
  /** Equal for equal traces. */
  readonly fingerprint: number;
  readonly acknowledged: number;
}

const MARKER_KEY = '_demarkus/v1/head.json';
/** A run that takes longer hangs. */
const LIMIT_MS = 30 * 24 * 3_600_000;

/** Runs a plan. The same plan and options give the same verdict and the same trace. */
export async function run(plan: Plan, options: RunOptions = {}): Promise<Verdict> {
  const scene = await makeScene(plan, options);
  const { timeline, history, ghost, coverage } = scene;
  const unlisten = listen(coverage);
  try {
    beginWorld(scene);
    const stores = plan.stores.map((planned, index) => new SimStore(scene, index, planned));
    const writers = new Writers(scene, stores);
    const sweeper = new Sweeper(scene);
    for (const event of plan.events) {
      timeline.at(event.at, () => act(scene, stores, writers, sweeper, event));
    }
    const last = plan.events.at(-1)?.at ?? 0;
    await timeline.run(last + 1);
    await finish(scene, stores, writers, LIMIT_MS);
  } catch (error) {
    history.violations.push({ rule: 'harness', detail: String((error as Error).stack ?? error) });
  } finally {
    unlisten();
  }
  coverage.count('stray', ghost.strays);
  const violations = [...history.violations, ...ghost.violations];
  if (violations.length === 0) violations.push(...check(history.calls, ghost));
  const { acknowledged } = history;
  return { violations, coverage, fingerprint: timeline.fingerprint, acknowledged };
}

async function makeScene(plan: Plan, options: RunOptions): Promise<Scene> {
  const random = new SimRandom(plan.seed);
  const timeline = new Timeline();
  timeline.tracer = options.tracer ?? null;
  const { createDoesNotCheck = false } = options;
  const { serverOffsetMs } = plan;
  const bucket = new SimBucket({ timeline, serverOffsetMs, createDoesNotCheck });
  const ghost = new GhostLog();
  const shelf = new Shelf();
  const coverage = new Coverage();
  const history = new History(ghost);
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
  return {
    plan,
    store: await loadStore(options.mutant ?? null),
    timeline,
    bucket,
    faults: new Faults(drawProfile(random.fork('profile'))),
    coverage,
    random: random.fork('run'),
    shelf,
    ghost,
    history,
    noteFailure: (where, error) => {
      timeline.trace(`${where} failed: ${String(error)}`);
      // A store that finds its world damaged here is wrong: nothing is.
      if (isBlobError(error) || (isStoreFailure(error) && error.code !== 'INTEGRITY')) return;
      history.violations.push({ rule: 'integrity', detail: `${where}: ${String(error)}` });
    },
  };
}

function beginWorld({ bucket, random }: Scene): void {
  const marker = genesisMarker(random.uuid(), random.uuid());
  bucket.create(MARKER_KEY, encodeMarker(marker), 'genesis');
}

function act(
  scene: Scene,
  stores: readonly SimStore[],
  writers: Writers,
  sweeper: Sweeper,
  event: PlanEvent,
): void {
  if (event.kind === 'write') return writers.write(event);
  const store = stores[event.store];
  if (store === undefined) return;
  switch (event.kind) {
    case 'view':
      return look(scene, store, event.reads);
    case 'crash':
      return aim(store, event.on, () => store.crash(event.restartMs, event.again));
    case 'pause':
      return aim(store, event.on, () => store.pause(event));
    case 'jump':
      return store.jump(event.ms);
    case 'sweep':
      return sweeper.sweep(store, event);
    default:
      return event satisfies never;
  }
}

type Aim = Extract<PlanEvent, { readonly kind: 'crash' }>['on'];

function aim(store: SimStore, on: Aim, action: () => void): void {
  if (on === null) action();
  else store.process.when(on, action);
}

/** Counts what stores tell of themselves. */
function listen(coverage: Coverage): () => void {
  const listeners: readonly (readonly [name: string, (event: unknown) => void])[] = [
    ['bucketstore:lost', () => coverage.count('lost slot')],
    ['bucketstore:reload', () => coverage.count('reload')],
    [
      'bucketstore:fence',
      (event) => coverage.count((event as { beyond: boolean }).beyond ? 'stale store' : 'fence'),
    ],
    [
      'bucketstore:rebase',
      (event) => {
        const { kept, rebuilt, groupsKept, groupsRebuilt } = event as Record<string, number>;
        coverage.count('kept member', kept);
        coverage.count('rebuilt member', rebuilt);
        coverage.count('group kept', groupsKept);
        coverage.count('group rebuilt', groupsRebuilt);
      },
    ],
  ];
  for (const [name, listener] of listeners) channel(name).subscribe(listener);
  return () => {
    for (const [name, listener] of listeners) channel(name).unsubscribe(listener);
  };
}
