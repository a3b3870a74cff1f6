/** What a scenario hands over: sums and samples, from which the report is made. */

import type { CheckpointSums } from './checkpoint-tally.ts';
import type { Samples } from './measure.ts';
import type { Overload } from './overload.ts';
import type { ReadBack } from './read-back.ts';
import type { Tally } from './tally.ts';
import type { Watched } from './watch.ts';

/** One store's part. */
export interface StoreOutcome {
  readonly store: string;
  readonly samples: Samples;
}

/** Reads beside or instead of writes. */
export interface ReadOutcome {
  readonly samples: Samples;
  /** Over the whole run, measured or not. */
  readonly answered: number;
  /** Reads that did not show a version acknowledged before they began. */
  readonly stale: number;
  readonly tally: Tally;
}

export interface Outcome extends Watched, ReadBack {
  /** What the percentiles are of. */
  readonly measured: 'creates' | 'writes' | 'reads';
  readonly samples: Samples;
  /** Acknowledged over the whole run: what requests, bytes and CPU are shared among. */
  readonly acknowledged: number;
  readonly tally: Tally;
  /** Of all stores of the run. */
  readonly checkpoints: CheckpointSums;
  readonly errors: Readonly<Record<string, number>>;
  /** Null where nothing is written under load. */
  readonly overload: Overload | null;
  readonly stores: readonly StoreOutcome[];
  readonly reads: ReadOutcome | null;
}
