/** What a scenario hands over: sums and samples, from which the report is made. */
import type { Samples } from './measure.ts';
import type { Tally } from './tally.ts';

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

export interface Outcome {
  /** What the percentiles are of. */
  readonly measured: 'creates' | 'writes' | 'reads';
  readonly samples: Samples;
  /** The measured time, s. */
  readonly seconds: number;
  /** Acknowledged over the whole run: what requests, bytes and CPU are shared among. */
  readonly acknowledged: number;
  readonly lostAcknowledged: number;
  readonly cpuMicros: number;
  readonly tally: Tally;
  readonly errors: Readonly<Record<string, number>>;
  readonly stores: readonly StoreOutcome[];
  readonly reads: ReadOutcome | null;
}
