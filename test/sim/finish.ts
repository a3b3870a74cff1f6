/**
 * The end of a run: the network is calm, everybody wakes, what is unknown is asked for, enough is
 * written, and what every store serves is compared with the log.
 */
import { isStoreFailure } from './answers.ts';
import { type Life, SimStore } from './life.ts';
import { endState } from './oracle/checks.ts';
import type { Scene } from './scene.ts';
import type { Writers } from './writer.ts';

/** What is under way, or lands late, is over by then. */
const SETTLE_MS = 4 * 3_600_000;

export async function finish(
  scene: Scene,
  stores: readonly SimStore[],
  writers: Writers,
  limitMs: number,
): Promise<void> {
  const { timeline, faults, history, ghost } = scene;
  faults.calm();
  for (const store of stores) store.spare();
  // Pauses, restarts and late landings end by themselves.
  const isBroken = (): boolean => history.violations.length + ghost.violations.length > 0;
  await timeline.run(isBroken, timeline.now + SETTLE_MS);
  if (isBroken()) return;
  const isUp = (): boolean => stores.every(({ life }) => life !== null);
  const settled = (): boolean => isUp() && history.open === 0;
  await demand(scene, settled, limitMs, 'does not come to rest');
  await writeEnough(scene, stores, writers, limitMs);
  for (const [index, unknown] of writers.unknowns.entries()) {
    const store = stores[index % stores.length];
    if (store !== undefined) writers.ask(store, unknown);
  }
  await demand(scene, settled, limitMs, 'does not answer what became of the unknown');
  await compareAll(scene, stores, limitMs);
}

/** What all serve, and what one serves that opens only now. */
async function compareAll(
  scene: Scene,
  stores: readonly SimStore[],
  limitMs: number,
): Promise<void> {
  const [planned] = scene.plan.stores;
  if (planned === undefined) return;
  const cold = new SimStore(scene, stores.length, { ...planned, compact: false });
  cold.spare();
  await demand(scene, () => cold.life !== null, limitMs, 'opens no store at the end');
  let compared = 0;
  for (const { life } of [...stores, cold]) {
    if (life === null) continue;
    void compare(scene, life).then(() => {
      compared += 1;
    });
  }
  await demand(scene, () => compared > stores.length, limitMs, 'does not answer at the end');
}

async function demand(
  { timeline, history }: Scene,
  done: () => boolean,
  limitMs: number,
  words: string,
): Promise<void> {
  if (await timeline.run(done, timeline.now + limitMs)) return;
  history.violations.push({ rule: 'liveness', detail: `the run ${words}` });
}

/** Blind writes, one after another on every store, until there are enough. */
async function writeEnough(
  scene: Scene,
  stores: readonly SimStore[],
  writers: Writers,
  limitMs: number,
): Promise<void> {
  const { timeline, history, plan } = scene;
  for (let round = 0; history.acknowledged < plan.acknowledged && round < 200; round++) {
    for (const store of stores) {
      const path = `/last/${store.index}.md`;
      const metadata = { tags: 'area:sim', owner: 'us' };
      const body = `the last ${store.index} ${round}\n`;
      const bare = { metadata, archived: false, requires: null, expected: 'any' } as const;
      const mutation = { ...bare, kind: 'publish', path, body } as const;
      const planned = { at: timeline.now, store: store.index, deadlineMs: 10_000, twin: null };
      writers.write({ ...planned, kind: 'write', mutations: [mutation] });
    }
    await demand(scene, () => history.open === 0, limitMs, 'does not answer its last writes');
  }
}

/** What a store serves is what the log says (I3). */
async function compare({ ghost, history }: Scene, life: Life): Promise<void> {
  const { process, parts, world } = life;
  const wrong = (detail: string): void => {
    history.violations.push({ rule: 'I3', detail: `${process.id}: ${detail}` });
  };
  try {
    const { tip, documentCount } = await parts.follower.atTip();
    const expected = endState(ghost);
    if (tip.sequence !== ghost.tip) wrong(`is at ${tip.sequence}, the log at ${ghost.tip}`);
    if (documentCount !== expected.size) wrong(`has ${documentCount} of ${expected.size}`);
    const view = world.view();
    for (const [index, [path, state]] of [...expected].entries()) {
      // Some with their bodies, wherever those lie by now.
      const { version, etag, archived } = await (index % 4 ? view.stat(path) : view.get(path));
      const same = version === state.version && etag === state.etag && archived === state.archived;
      if (!same) wrong(`${path} is at ${version} ${etag} ${archived}`);
      if (index % 8 > 0) continue;
      const told = (await view.versions(path)).map((one) => one.etag);
      const retained = retainedOf(ghost, path);
      if (told.join() !== retained.join()) wrong(`${path} has versions ${told}, not ${retained}`);
    }
  } catch (error) {
    if (!isStoreFailure(error)) throw error;
    wrong(`${error.code}: ${error.message}`);
  }
}

/** ETags of the versions of a document that are retained in the end, newest first. */
function retainedOf({ world }: Scene['ghost'], path: string): readonly string[] {
  const document = world?.documents.get(path);
  const { state } = document ?? {};
  return document === undefined || state === undefined ? [] : document.retained(state);
}
