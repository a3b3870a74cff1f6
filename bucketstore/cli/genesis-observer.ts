/** Requests of one run, and what it knows of a world that it may have made. */
import { type Counts, createCounter, type Observer, type RequestEvent } from '../../blob/index.ts';
import { MARKER_KEY } from '../log/names.ts';

/**
 * `created`: the marker was created by a request of this run. `open`: one was sent, and whether it
 * has taken effect is not known. `settled`: this run has made none.
 */
export type MarkerFate = 'created' | 'open' | 'settled';

export interface GenesisObserver {
  readonly observer: Observer;
  /** Whether the marker was created by a request of this run: exact, also when several race. */
  created(): boolean;
  fate(): MarkerFate;
  counts(): Counts;
}

export function observeGenesis(): GenesisObserver {
  const counter = createCounter();
  let fate: MarkerFate = 'settled';
  return {
    observer: {
      observe(event) {
        counter.observe(event);
        if (event.key === MARKER_KEY) fate = fateAfter(fate, event);
      },
    },
    created: () => fate === 'created',
    fate: () => fate,
    counts: () => counter.snapshot(),
  };
}

function fateAfter(fate: MarkerFate, event: RequestEvent): MarkerFate {
  if (fate === 'created') return fate;
  const { operation, outcome, ambiguous } = event;
  if (operation !== 'create') return outcome === 'found' ? 'settled' : fate;
  switch (outcome) {
    case 'created':
      return 'created';
    case 'exists':
      return 'settled';
    default:
      // The driver's own word that nothing was sent, or it may land yet.
      return outcome === 'failed' && ambiguous !== true ? fate : 'open';
  }
}
