/** What the checkpoints of a store cost, told from its requests: the record's create ends each. */
import type { Observer, RequestEvent } from '../blob/index.ts';
import { parseKey } from '../bucketstore/log/names.ts';

/** One checkpoint, and all that was written for it since the one before. */
export interface CheckpointCost {
  /** The last sequence that it covers. */
  readonly sequence: number;
  readonly epoch: number;
  /** Objects that were made, the record included. */
  readonly objects: number;
  readonly bytes: number;
  /** Of these bytes, those of packs. */
  readonly packBytes: number;
}

/** Sums over checkpoints. */
export interface CheckpointSums {
  /** Records that were made. */
  readonly checkpoints: number;
  /** Of all objects that were made for checkpoints, with a record or not yet. */
  readonly objects: number;
  readonly bytes: number;
  readonly packBytes: number;
}

export class CheckpointTally implements Observer {
  readonly #onCheckpoint: (cost: CheckpointCost) => void;
  #sums = zero();
  /** Since the last record. */
  #open = zero();

  /** @param onCheckpoint told of each checkpoint whose record this store made */
  constructor(onCheckpoint: (cost: CheckpointCost) => void = () => undefined) {
    this.#onCheckpoint = onCheckpoint;
  }

  get sums(): CheckpointSums {
    return { ...this.#sums };
  }

  observe({ key, outcome, bytesOut }: RequestEvent): void {
    if (outcome !== 'created') return;
    const name = parseKey(key);
    switch (name?.kind) {
      case 'index':
      case 'history':
      case 'root':
        this.#add(bytesOut, 0);
        break;
      case 'pack':
        this.#add(bytesOut, bytesOut);
        break;
      case 'checkpoint': {
        this.#add(bytesOut, 0);
        this.#sums.checkpoints++;
        const { objects, bytes, packBytes } = this.#open;
        this.#open = zero();
        const { sequence, epoch } = name;
        this.#onCheckpoint({ sequence, epoch, objects, bytes, packBytes });
        break;
      }
      default:
    }
  }

  /** Back to zero. */
  reset(): void {
    this.#sums = zero();
    this.#open = zero();
  }

  #add(bytes: number, packBytes: number): void {
    for (const sums of [this.#sums, this.#open]) {
      sums.objects++;
      sums.bytes += bytes;
      sums.packBytes += packBytes;
    }
  }
}

/** The sums of two stores. */
export function addedSums(one: CheckpointSums, other: CheckpointSums): CheckpointSums {
  return {
    checkpoints: one.checkpoints + other.checkpoints,
    objects: one.objects + other.objects,
    bytes: one.bytes + other.bytes,
    packBytes: one.packBytes + other.packBytes,
  };
}

function zero(): { -readonly [K in keyof CheckpointSums]: CheckpointSums[K] } {
  return { checkpoints: 0, objects: 0, bytes: 0, packBytes: 0 };
}
