/**
 * A world that is written to once a second, as a store compacts it in the background: how many
 * checkpoints that makes, and how many bytes. What no store needs any more is taken out of the
 * bucket on the way, so that a month fits into memory.
 */
import type { BlobStore } from '../../blob/blob.ts';
import { type Call, type CallResult, decorate, type Send } from '../../blob/decorate.ts';
import type { World } from '../../bucketstore/index.ts';
import { Checkpoints } from '../../bucketstore/log/checkpoints.ts';
import { decodeMarker } from '../../bucketstore/log/marker.ts';
import { LOG_PREFIX, MARKER_KEY, parseKey, WORLD_PREFIX } from '../../bucketstore/log/names.ts';
import { ObjectReader } from '../../checkpoint/objects.ts';
import { lifeStart, rootKey } from '../../checkpoint/root.ts';
import { runKey, TABLE_KINDS } from '../../checkpoint/run-manifest.ts';
import { tableKey } from '../../checkpoint/table-directory.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { WorldBench } from '../support/world-bench.ts';

export interface TrickleOptions {
  readonly seconds: number;
  readonly documents: number;
  readonly progress?: (told: string) => void;
}

export interface Trickle {
  readonly writes: number;
  readonly checkpoints: number;
  /** Of the slots of these writes. */
  readonly slotBytes: number;
  /** Of everything that checkpoints were made of, the records too. */
  readonly derivedBytes: number;
  /** The largest number of objects that stayed. */
  readonly objects: number;
}

/** What was created, by whom it is for. */
class Tally {
  slotBytes = 0;
  derivedBytes = 0;
  checkpoints = 0;

  note(key: string, size: number): void {
    if (key.startsWith(LOG_PREFIX)) this.slotBytes += size;
    else this.derivedBytes += size;
    if (parseKey(key)?.kind === 'checkpoint') this.checkpoints += 1;
  }
}

/** Counts what is created; of a pack nothing is kept but its size, as nobody reads it here. */
function counted(below: BlobStore, tally: Tally): BlobStore {
  const packs = new Map<string, number>();
  const around = async <T extends CallResult>(call: Call, send: Send<T>): Promise<T> => {
    const { operation, key, bytesOut } = call;
    const isPack = parseKey(key)?.kind === 'pack';
    if (operation === 'create') tally.note(key, bytesOut);
    if (isPack && operation === 'create') packs.set(key, bytesOut);
    const size = packs.get(key);
    if (!isPack || size === undefined) return send();
    const attributes = { key, size, generation: '1', modifiedMs: 0 };
    const answer = operation === 'create' ? { outcome: 'created' } : { found: true };
    return { ...answer, attributes } as unknown as T;
  };
  return decorate(below, around);
}

/** Takes away what the newest checkpoint does not need. @returns how many objects are left */
async function tidy(bench: WorldBench): Promise<number> {
  const { bucket } = bench;
  const { place } = await new Checkpoints(bucket).newest({});
  if (place === null) return 0;
  const record = await new Checkpoints(bucket).read(place, {});
  if (record === null) return 0;
  const { start } = decodeMarker(await bench.bytes(MARKER_KEY));
  const reader = new ObjectReader({ bucket });
  const root = await reader.root(record.root, lifeStart(start));
  const kept = new Set([MARKER_KEY, rootKey(record.root)]);
  for (const [kind, refs] of [
    ['run', root.runs],
    ['records', root.records],
  ] as const) {
    for (const ref of refs) {
      kept.add(runKey(ref));
      const manifest = await reader.run(kind, ref);
      for (const table of manifest.objects) {
        kept.add(tableKey(TABLE_KINDS[kind], table));
      }
    }
  }
  let left = 0;
  for (const key of await bench.keys(WORLD_PREFIX)) {
    const name = parseKey(key);
    const isNeeded =
      kept.has(key) ||
      name?.kind === 'history' ||
      (name?.kind === 'slot' && name.first + 512 > root.packedThrough) ||
      (name?.kind === 'checkpoint' && name.sequence === place.sequence);
    if (isNeeded) left += 1;
    else await bucket.delete(key);
  }
  return left;
}

function publish(world: World, random: SeededRandom, n: number): Promise<unknown> {
  // About 500 bytes: a note.
  const body = `# Note ${n}\n\n${`${random.uuid()} `.repeat(13)}\n`;
  return world.publish({ path: `/notes/${n % 100}/note-${n}.md`, expected: 'any', body });
}

/** One write a second to a random one of so many documents, in one store, in virtual time. */
export async function trickle(options: TrickleOptions): Promise<Trickle> {
  const { seconds, documents, progress = () => undefined } = options;
  const bench = new WorldBench(1);
  const random = new SeededRandom(1);
  const tally = new Tally();
  const bucket = counted(bench.bucket, tally);
  const { world } = await bench.store({ bucket, settings: { compact: true } });
  const all = Array.from({ length: documents }, (_, n) => publish(world, random, n));
  await bench.run(Promise.all(all));
  await bench.run(world.compact());
  const before = { ...tally };
  let objects = 0;
  let tidied = 0;
  for (let second = 1; second <= seconds; second++) {
    await bench.run(publish(world, random, random.integer(documents)));
    await bench.clock.advance(1_000);
    if (tally.checkpoints < tidied + 10) continue;
    tidied = tally.checkpoints;
    objects = Math.max(objects, await tidy(bench));
    if (tidied % 100 < 10) progress(`${second} of ${seconds} s: ${tidied} checkpoints`);
  }
  await bench.run(world.close());
  return {
    writes: seconds,
    checkpoints: tally.checkpoints - before.checkpoints,
    slotBytes: tally.slotBytes - before.slotBytes,
    derivedBytes: tally.derivedBytes - before.derivedBytes,
    objects,
  };
}
