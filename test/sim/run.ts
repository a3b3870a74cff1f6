/** One seed from its plan to its verdict. */
import { channel } from 'node:diagnostics_channel';
import { BackgroundEvents, startCompaction } from './compaction.ts';
import type { Coverage } from './coverage.ts';
import { finish } from './finish.ts';
import type { Call, Violation } from './history.ts';
import { SimStore } from './life.ts';
import { check } from './oracle/checks.ts';
import type { Plan, PlanEvent } from './plan.ts';
import { makeScene, type Scene, type SceneOptions } from './scene.ts';
import { Sweeper } from './sweeper.ts';
import { look } from './viewer.ts';
import { Writers } from './writer.ts';

export type RunOptions = SceneOptions;

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly coverage: Coverage;
  /** Equal for equal traces. */
  readonly fingerprint: number;
  readonly acknowledged: number;
}

/** Whoever takes longer on a calm network hangs. */
const LIMIT_MS = 3_600_000;

/** Runs a plan. The same plan and options give the same verdict and the same trace. */
export async function run(plan: Plan, options: RunOptions = {}): Promise<Verdict> {
  const scene = await makeScene(plan, options);
  const { timeline, history, ghost, coverage } = scene;
  const unlisten = listen(coverage);
  try {
    const stores = plan.stores.map((planned, index) => new SimStore(scene, index, planned));
    const writers = new Writers(scene, stores);
    const sweeper = new Sweeper(scene);
    for (const event of plan.events) {
      timeline.at(event.at, () => act(scene, stores, writers, sweeper, event));
    }
    const last = plan.events.at(-1)?.at ?? 0;
    // What goes on after a rule was broken shows nothing more, and may take for ever.
    const isBroken = (): boolean => history.violations.length + ghost.violations.length > 0;
    await timeline.run(isBroken, last + 1);
    if (!isBroken()) await finish(scene, stores, writers, LIMIT_MS);
  } catch (error) {
    history.violations.push({ rule: 'harness', detail: String((error as Error).stack ?? error) });
  } finally {
    unlisten();
  }
  coverage.count('stray', ghost.strays);
  coverage.count('group refused', history.calls.filter(isRefusedGroup).length);
  coverage.count('group with an unchanged part', history.calls.filter(isMixedGroup).length);
  const violations = [...history.violations, ...ghost.violations];
  if (violations.length === 0) violations.push(...check(history.calls, ghost));
  const { acknowledged } = history;
  return { violations, coverage, fingerprint: timeline.fingerprint, acknowledged };
}

function isRefusedGroup(call: Call): boolean {
  return call.kind === 'write' && call.mutations.length > 1 && call.outcome?.kind === 'refused';
}

/** Whether a group was taken of which one mutation changed something, and another did not. */
function isMixedGroup(call: Call): boolean {
  if (call.kind !== 'write' || call.outcome?.kind !== 'taken') return false;
  const { taken } = call.outcome;
  return taken.some(({ committed }) => committed) && taken.some(({ committed }) => !committed);
}

function act(
  scene: Scene,
  stores: readonly SimStore[],
  writers: Writers,
  sweeper: Sweeper,
  event: PlanEvent,
): void {
  if (event.kind === 'write') {
    writers.write(event);
    return;
  }
  const store = stores[event.store];
  if (store === undefined) return;
  switch (event.kind) {
    case 'view':
      look(scene, store, event);
      break;
    case 'crash':
      aim(store, event.on, () => store.crash(event.restartMs, event.again));
      break;
    case 'pause':
      aim(store, event.on, () => store.pause(event));
      break;
    case 'jump':
      store.jump(event.ms);
      break;
    case 'sweep':
      sweeper.sweep(store, event);
      break;
    case 'compact':
      startCompaction(scene, store);
      break;
    case 'damage':
      scene.damage.strike(event);
      break;
    default:
      event satisfies never;
  }
}

type Aim = Extract<PlanEvent, { readonly kind: 'crash' }>['on'];

function aim(store: SimStore, on: Aim, action: () => void): void {
  if (on === null) action();
  else store.process.when(on, action);
}

/** Counts what stores tell of themselves. */
function listen(coverage: Coverage): () => void {
  const background = new BackgroundEvents({ coverage });
  const listeners: readonly (readonly [name: string, (event: unknown) => void])[] = [
    ['bucketstore:lost', () => coverage.count('lost slot')],
    ['bucketstore:reload', () => coverage.count('reload')],
    ['bucketstore:checkpoint', (event) => background.note(event)],
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
