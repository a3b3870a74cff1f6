/** Requests of one run, and whether it was this run that made the world. */
import { type Counts, createCounter, type Observer } from '../../blob/index.ts';
import { MARKER_KEY } from '../log/names.ts';

export interface GenesisObserver {
  readonly observer: Observer;
  /** Whether the marker was created by a request of this run: exact, also when several race. */
  created(): boolean;
  counts(): Counts;
}

export function observeGenesis(): GenesisObserver {
  const counter = createCounter();
  let made = false;
  return {
    observer: {
      observe(event) {
        counter.observe(event);
        if (event.key === MARKER_KEY && event.outcome === 'created') made = true;
      },
    },
    created: () => made,
    counts: () => counter.snapshot(),
  };
}
