/** What happened on the wire and in the stores while a load ran. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Counts, createCounter, type Observer, type RequestEvent } from '../blob/index.ts';
import { type CheckpointSums, CheckpointTally } from './checkpoint-tally.ts';

/** Sums over all stores of a run. */
export interface Tally {
  readonly counts: Counts;
  /** Creates that were told to have made an object. */
  readonly objects: number;
  /** Slots of these stores, and names that they lost to each other. */
  readonly slots: number;
  readonly lost: number;
  /** What was written for checkpoints. */
  readonly checkpoints: CheckpointSums;
}

/** Counts from `start` to `stop`. Slots are of all stores of the process, as its channels are. */
export class TallyKeeper {
  readonly observer: Observer;
  readonly #counter = createCounter();
  readonly #checkpoints: CheckpointTally;
  #objects = 0;
  #slots = 0;
  #lost = 0;

  /** @param onCheckpoint as of `CheckpointTally` */
  constructor(onCheckpoint?: ConstructorParameters<typeof CheckpointTally>[0]) {
    this.#checkpoints = new CheckpointTally(onCheckpoint);
    this.observer = {
      observe: (event: RequestEvent) => {
        this.#counter.observe(event);
        this.#checkpoints.observe(event);
        if (event.outcome === 'created') this.#objects++;
      },
    };
  }

  start(): void {
    this.#counter.reset();
    this.#checkpoints.reset();
    this.#objects = 0;
    subscribe('bucketstore:commit', this.#onCommit);
    subscribe('bucketstore:lost', this.#onLost);
  }

  stop(): Tally {
    unsubscribe('bucketstore:commit', this.#onCommit);
    unsubscribe('bucketstore:lost', this.#onLost);
    const counts = this.#counter.snapshot();
    const { sums: checkpoints } = this.#checkpoints;
    return { counts, objects: this.#objects, slots: this.#slots, lost: this.#lost, checkpoints };
  }

  readonly #onCommit = (): void => {
    this.#slots++;
  };

  readonly #onLost = (): void => {
    this.#lost++;
  };
}
