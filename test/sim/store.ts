/** The one door through which the simulation imports the store, so that a mutant can stand in. */
export { openStore, openWorld } from '../../bucketstore/open.ts';
export { World } from '../../bucketstore/world.ts';
