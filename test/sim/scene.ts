/** All that the parts of one simulated run share. */
import type { SimBucket } from './bucket.ts';
import type { Coverage } from './coverage.ts';
import type { Faults } from './faults.ts';
import type { loadStore } from './mutants/load.ts';
import type { GhostLog } from './oracle/ghost-log.ts';
import type { Plan } from './plan.ts';
import type { SimRandom } from './random.ts';
import type { History } from './recorder.ts';
import type { Shelf } from './shelf.ts';
import type { Timeline } from './time.ts';

export interface Scene {
  readonly plan: Plan;
  readonly store: Awaited<ReturnType<typeof loadStore>>;
  readonly timeline: Timeline;
  readonly bucket: SimBucket;
  readonly faults: Faults;
  readonly coverage: Coverage;
  readonly random: SimRandom;
  readonly shelf: Shelf;
  readonly ghost: GhostLog;
  readonly history: History;
  /** Notes an error that is no answer of the store's; one that never may be is a violation. */
  readonly noteFailure: (where: string, error: unknown) => void;
}
