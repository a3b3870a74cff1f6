/** Compactions that a plan asks for, and what a store tells of its checkpoints. */
import type { Logger } from '../../bucketstore/base/diagnostics.ts';
import { isStoreFailure } from './answers.ts';
import type { Life, SimStore } from './life.ts';
import type { SimProcess } from './process.ts';
import type { Scene } from './scene.ts';

/** Has a store compact now, whatever it answers; nothing when it is down. */
export function startCompaction(scene: Scene, { life }: SimStore): void {
  if (life === null) return;
  life.process.deliver(() => {
    void compact(scene, life).catch((error: unknown) => {
      if (!isStoreFailure(error)) throw error;
      scene.noteFailure(life.process, `compact ${life.process.id}`, error);
    });
  });
}

/** How often a compaction is begun that a bucket without an answer ends. */
const ATTEMPTS = 2;

/**
 * Makes checkpoints up to the tip, again and again as who runs a store would.
 * @throws StoreError as the store does
 */
export async function compact(scene: Scene, life: Life): Promise<void> {
  const { coverage, timeline } = scene;
  const { process, parts, world } = life;
  const before = parts.follower.snapshot.base.sequence;
  const { newest, written } = await insist(scene, life, () => world.compact());
  const { base } = parts.follower.snapshot;
  timeline.trace(`${process.id} compacted, ${written} written, rests on ${base.sequence}`);
  coverage.count('checkpoint', written);
  if (newest === null || base.sequence <= before) return;
  const own = scene.checkpoints.newest?.process === process.id;
  coverage.count(own ? 'rests on its own checkpoint' : 'rests on another’s checkpoint');
}

async function insist<T>(scene: Scene, { process }: Life, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isStoreFailure(error)) throw error;
      scene.coverage.count(`compaction fails: ${error.code}`);
      if (error.code !== 'UNAVAILABLE' || attempt === ATTEMPTS) throw error;
      await process.clock.sleep(500);
    }
  }
}

/** Counts attempts of a store's background. */
export class BackgroundEvents {
  readonly #scene: Pick<Scene, 'coverage'>;
  /** The newest checkpoint that each store knows of. */
  readonly #known = new Map<string, number>();

  constructor(scene: Pick<Scene, 'coverage'>) {
    this.#scene = scene;
  }

  note(event: unknown): void {
    const { store, newest, written, code } = event as BackgroundEvent;
    const { coverage } = this.#scene;
    const before = this.#known.get(store);
    // Of a store's first attempt it is not known what it rested on before.
    const isNew = before === undefined ? written > 0 : newest > before;
    this.#known.set(store, newest);
    coverage.count('background checkpoint', written);
    if (code !== null) coverage.count(`background fails: ${code}`);
    if (!isNew) return;
    const own = written > 0;
    coverage.count(own ? 'rests on its own checkpoint' : 'rests on another’s checkpoint');
  }
}

interface BackgroundEvent {
  readonly store: string;
  readonly newest: number;
  readonly written: number;
  readonly code: string | null;
}

const ignore = (): void => undefined;

/** Where a store says what is wrong: only for what was damaged, or with the bucket's failures. */
export function loggerOf(scene: Scene, process: SimProcess): Logger {
  const { id } = process;
  const warn: Logger['warn'] = ({ object, err }, message) => {
    scene.timeline.trace(`${id} warns: ${message}: ${String(object ?? '')} ${String(err ?? '')}`);
    const isBad = message.startsWith('checkpoint ');
    if (isBad) scene.coverage.count('bad checkpoint passed over');
    // Whatever the background meets, it only warns of.
    const isFailure =
      message === 'no checkpoint was made' || message.startsWith('no stored version');
    if (isBad || isFailure) scene.noteFailure(process, `${id}: ${message}`, err);
  };
  return { debug: ignore, info: ignore, warn, error: warn };
}
