/** A world that `seed` made, as the scenarios find it that measure on it. */
import {
  isStoreError,
  openWorld,
  type Settings,
  StoreError,
  type World,
} from '../bucketstore/index.ts';
import type { SpikeArguments } from './arguments.ts';
import type { Machine } from './machine.ts';
import { SeedDocuments } from './seed-documents.ts';
import type { TallyKeeper } from './tally.ts';

/**
 * Opens a store of a seeded world.
 * @throws StoreError `LOCATION` saying what to do when none is there
 */
export async function openSeeded(
  { clock, random, signal }: Machine,
  { opened, location }: SpikeArguments,
  settings: Partial<Settings>,
  { observer }: Partial<Pick<TallyKeeper, 'observer'>> = {},
): Promise<World> {
  try {
    return await openWorld(opened, { settings, components: { clock, random, observer }, signal });
  } catch (error) {
    throw isStoreError(error) && error.code === 'NOT_FOUND' ? unseeded(location) : error;
  }
}

/**
 * The documents of a seeded world. Two look-ups; a world holds no others while nothing else writes.
 * @throws StoreError `LOCATION` saying what to do when it is another world
 */
export async function seededDocuments(
  world: World,
  { location, bodyBytes, seed }: SpikeArguments,
): Promise<SeedDocuments> {
  const { documents: count } = await world.stat();
  if (count === 0) throw unseeded(location);
  const documents = new SeedDocuments({ documents: count, bodyBytes, seed });
  await using view = world.view();
  try {
    for (const index of [0, count - 1]) await view.stat(documents.path(index));
  } catch (error) {
    throw isStoreError(error) && error.code === 'NOT_FOUND' ? unseeded(location) : error;
  }
  return documents;
}

function unseeded(location: string): StoreError {
  return new StoreError(
    'LOCATION',
    `${location} holds no seeded world; make one first: ` +
      'bucketstore spike seed LOCATION --documents N, on an empty location',
  );
}
