/** A world with one object of every kind there is today, and what every read of it must say. */
import { expect } from 'vitest';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { isStoreError, type StoreError, type World } from '../../bucketstore/index.ts';
import { slotKey } from '../../bucketstore/log/names.ts';
import type { ControlEntry } from '../../bucketstore/log/records.ts';
import { decodeSlot, encodeSlot } from '../../bucketstore/log/slot.ts';
import { WorldBench } from '../support/world-bench.ts';

export interface DamageWorld {
  readonly bench: WorldBench;
  /** Every object, as it was written. */
  readonly objects: ReadonlyMap<string, Uint8Array>;
  /** Key of the marker, of each slot by what is in it, and of each blob. */
  readonly marker: string;
  readonly slots: {
    readonly [name in 'inlined' | 'staged' | 'group' | 'archive' | 'control' | 'newest']: string;
  };
  readonly blobs: readonly string[];
  /** Bodies by path, oldest version first. */
  readonly bodies: ReadonlyMap<string, readonly string[]>;
}

const LARGE = `# Large\n${'0123456789abcdef\n'.repeat(1100)}`;

export async function damageWorld(): Promise<DamageWorld> {
  const bench = new WorldBench();
  const world = await bench.open();
  const last = async (work: Promise<unknown>): Promise<string> => {
    await bench.run(work);
    return (await bench.keys('_demarkus/v1/log/')).at(-1) ?? '';
  };
  const publish = (path: string, body: string, metadata: Record<string, string> | null = null) =>
    world.publish({ path, expected: 'any', body, metadata });
  const inlined = await last(
    Promise.all([
      publish('/a.md', 'a one', { tags: 'x,y', agent: 'bot' }),
      publish('/b.md', 'b one'),
    ]),
  );
  const staged = await last(publish('/large.md', LARGE));
  const group = await last(
    world.commit([
      { kind: 'publish', path: '/c.md', expected: 'absent', body: 'c one' },
      { kind: 'append', path: '/b.md', expected: 1, content: 'b two' },
      { kind: 'archive', path: '/a.md', archived: true },
    ]),
  );
  const archive = await last(world.setArchived({ path: '/a.md', archived: false }));
  const control = await last(appendControl(bench, world));
  const newest = await last(publish('/c.md', 'c two', { retention: '9' }));
  await bench.run(world.close());
  const keys = await bench.keys();
  const objects = new Map<string, Uint8Array>();
  for (const key of keys) objects.set(key, await bench.bytes(key));
  const bodies = new Map([
    ['/a.md', ['a one']],
    ['/b.md', ['b one', 'b one\nb two']],
    ['/c.md', ['c one', 'c two']],
    ['/large.md', [LARGE]],
  ]);
  return {
    bench,
    objects,
    marker: '_demarkus/v1/head.json',
    slots: { inlined, staged, group, archive, control, newest },
    blobs: keys.filter((key) => key.includes('/blobs/')),
    bodies,
  };
}

/** Writes a pin as another store would. */
async function appendControl(bench: WorldBench, world: World): Promise<void> {
  const pin: ControlEntry = {
    kind: 'pin',
    op: bench.random.uuid(),
    id: bench.random.uuid(),
    owner: 'a backup',
    expires: 1_800_000_000,
  };
  await forgeSlot(bench, world, pin);
}

/** Creates the slot behind the newest, with one control entry. Returns its key. */
export async function forgeSlot(
  bench: WorldBench,
  world: World,
  entry: ControlEntry,
): Promise<string> {
  const before = (await bench.keys('_demarkus/v1/log/')).at(-1) ?? '';
  const { slot, hash } = decodeSlot(before, await bench.bytes(before));
  const first = sequence(slot.last + 1);
  const { bytes } = encodeSlot({
    worldId: world.worldId,
    incarnationId: slot.incarnationId,
    first,
    store: bench.random.uuid(),
    time: slot.time + 1,
    documents: slot.documents,
    prev: hash,
    epoch: slot.epoch,
    entries: [entry],
    bodies: [],
  });
  await bench.put(slotKey(first), bytes);
  return slotKey(first);
}

/**
 * Opens the world cold and reads every version of every document. What can be read is right; what
 * cannot must be refused.
 * @returns the refusals in the order in which they are met
 */
export async function meet({ bench, bodies }: DamageWorld): Promise<readonly StoreError[]> {
  const refusals: StoreError[] = [];
  const refuse = (error: unknown): undefined => {
    if (!isStoreError(error)) throw error;
    refusals.push(error);
  };
  const world = await bench.open({ create: false }).catch(refuse);
  if (world === undefined) return refusals;
  for (const [path, versions] of bodies) {
    for (const [index, body] of versions.entries()) {
      const view = world.view();
      const found = await bench.run(view.get(path, { version: index + 1 })).catch(refuse);
      if (found !== undefined) expect(Buffer.from(found.body).toString()).toBe(body);
    }
    await bench.run(world.view().verifyChain(path)).catch(refuse);
  }
  await bench.run(world.close());
  return refusals;
}
