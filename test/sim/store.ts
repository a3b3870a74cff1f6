/** The one door through which the simulation imports the store, so that a mutant can stand in. */
export { openWorld } from '../../bucketstore/open.ts';
