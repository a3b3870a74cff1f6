/**
 * How old the last trustworthy look at the end of the log is. Pure.
 *
 * Collected slots free their names, so an answer about a name says nothing by itself: a writer that
 * slept may be told "created" at a name that was used and freed meanwhile. A *sighting* bounds
 * that: as of its moment no name behind its tip had ever been freed, and a name is freed no sooner
 * than the grace after an entry that every awake store has met. No clock is compared with
 * another's: a duration is the difference of one clock with itself, and the largest of three is
 * believed, so a pause must hide from all of them to go unseen (I18).
 */
import type { Sequence } from '../base/sequence.ts';

/** Readings of three clocks at one moment, ms. */
export interface Moment {
  readonly wall: number;
  readonly monotonic: number;
  /** The service's own `Date`; null when no answer told it. */
  readonly date: number | null;
}

/** As of `at`, no name behind `tip` had been freed. */
export interface Sighting {
  readonly tip: Sequence;
  readonly at: Moment;
}

/** No answer about a name is believed on a sighting older than this, ms. Part of format 1. */
export const FENCE_MS = 300_000;

/**
 * What an entry condemns is deleted only by a store that has seen the entry for so long, ms. Part
 * of format 1. Longer than the fence by as much as clocks may fail to show of a pause.
 */
export const GRACE_MS: number = 12 * FENCE_MS;

/** The time between two moments by the clock that shows the most, ms: how old a thing may be. */
export function mostElapsed(from: Moment, to: Moment): number {
  return Math.max(...differences(from, to));
}

/** By the clock that shows the least, ms: how long something has surely been waited for. */
export function leastElapsed(from: Moment, to: Moment): number {
  return Math.min(...differences(from, to));
}

/** Whether a sighting may still be relied on at a moment, by the clocks that both tell. */
export function isFresh(sighting: Sighting, now: Moment): boolean {
  return mostElapsed(sighting.at, now) <= FENCE_MS;
}

/** The later of two moments, by the clock that never goes back; the second of equals. */
export function laterMoment(a: Moment, b: Moment): Moment {
  return b.monotonic >= a.monotonic ? b : a;
}

/** The later of two sightings: of the higher tip, else of the later moment. */
export function laterSighting(a: Sighting, b: Sighting): Sighting {
  if (a.tip !== b.tip) return a.tip > b.tip ? a : b;
  return laterMoment(a.at, b.at) === b.at ? b : a;
}

function differences(from: Moment, to: Moment): readonly number[] {
  const local = [to.wall - from.wall, to.monotonic - from.monotonic];
  return from.date === null || to.date === null ? local : [...local, to.date - from.date];
}
