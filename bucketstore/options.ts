/**
 * How a world is opened. Settings are plain data with defaults and bounds; components are things
 * handed in. The two never share a structure.
 */
import type { BlobStore, Observer } from '../blob/index.ts';
import { InTurnsMerger } from '../checkpoint/in-turns-merger.ts';
import type { RunMerger } from '../checkpoint/merger.ts';
import { WorkerMerger } from '../checkpoint/worker-merger.ts';
import { type Clock, systemClock } from './base/clock.ts';
import { type Logger, silentLogger } from './base/diagnostics.ts';
import { type Random, systemRandom } from './base/random.ts';
import { DOCUMENTS_MAX, INLINE_BYTES_MAX, SLOT_ENTRIES_MAX } from './log/records.ts';
import type { CheckpointSource } from './snapshot/load.ts';

/** Numbers and switches of one store. Every one may differ between the stores of a world. */
export interface Settings {
  /** Stored versions up to this many bytes lie in the slot; 0 stages every one. Default 16 KiB. */
  readonly inlineBytes: number;
  /** Entries a slot may get. Default 256. */
  readonly batchMax: number;
  /** Requests that may wait. Default 16,384. */
  readonly queueMembers: number;
  /** Bytes that waiting requests may hold. Default 64 MiB. */
  readonly queueBytes: number;
  /** How long a request, or a view, may take, ms. Default 10,000. */
  readonly deadlineMs: number;
  /** How old the state behind lists and hash lookups may be, ms. Default 1,000. */
  readonly freshMs: number;
  /** Documents this store may hold, archived ones included. Default the format's 16,777,216. */
  readonly documentsMax: number;
  /** Bytes of stored versions kept in memory. Default 16 MiB. */
  readonly bodyCacheBytes: number;
  /** Refuse every write while the world has no valid policy. Default false. */
  readonly requirePolicy: boolean;
  /** Refuse every write. Default false. */
  readonly readOnly: boolean;
  /**
   * Make checkpoints in the background when they are due, and rest on those of other stores; a
   * store that is `readOnly` does the latter alone. Default true.
   */
  readonly compact: boolean;
  /** Creates in flight at once. Default 64. */
  readonly commitLane: number;
  /** Reads in flight at once. Default 64. */
  readonly readLane: number;
  /** Bulk reads in flight at once. Default 32. */
  readonly bulkLane: number;
}

/** Things a store is built from. */
export interface Components {
  readonly clock: Clock;
  readonly random: Random;
  /** Silent by default. */
  readonly logger: Logger;
  /** Is told of every request that is sent to the bucket. */
  readonly observer: Observer | undefined;
  /** Where the states of checkpoints come from. Default none: every state is replayed. */
  readonly checkpoints: CheckpointSource | null;
  /**
   * Who merges runs for checkpoints; closed with the store. Default a thread of its own where time
   * is the machine's, as a thread's is, and else the thread of the store.
   */
  readonly merger: RunMerger;
  /** An opened bucket in the place of the location's; the caller keeps and closes it. */
  readonly bucket: BlobStore | undefined;
}

export interface OpenOptions {
  readonly settings?: Partial<Settings> | undefined;
  readonly components?: Partial<Components> | undefined;
  /** Make a world when the location is empty, after probing it. Default false. */
  readonly create?: boolean | undefined;
  /** The world that must be there; with `create` also the ID of a new one. */
  readonly worldId?: string | undefined;
  /**
   * Resolve as soon as `get` and `stat` of current versions can be answered, and load the rest
   * behind; whatever else is asked waits for that, and rejects with what it fails with. Default
   * false.
   */
  readonly early?: boolean | undefined;
  /** Ends opening. */
  readonly signal?: AbortSignal | undefined;
}

/** The longest time a request may be given, ms. */
export const DEADLINE_MS_MAX = 600_000;

const DEFAULTS: Settings = {
  inlineBytes: 16 * 1024,
  batchMax: SLOT_ENTRIES_MAX,
  queueMembers: 16_384,
  queueBytes: 64 * 1024 * 1024,
  deadlineMs: 10_000,
  freshMs: 1_000,
  documentsMax: DOCUMENTS_MAX,
  bodyCacheBytes: 16 * 1024 * 1024,
  requirePolicy: false,
  readOnly: false,
  compact: true,
  commitLane: 64,
  readLane: 64,
  bulkLane: 32,
};

type NumberName = {
  [K in keyof Settings]: Settings[K] extends number ? K : never;
}[keyof Settings];

const BOUNDS: { readonly [name in NumberName]: readonly [min: number, max: number] } = {
  inlineBytes: [0, INLINE_BYTES_MAX],
  batchMax: [1, SLOT_ENTRIES_MAX],
  queueMembers: [1, 1_000_000],
  queueBytes: [1024 * 1024, 4 * 1024 ** 3],
  deadlineMs: [1, DEADLINE_MS_MAX],
  freshMs: [0, 1_000],
  documentsMax: [1, DOCUMENTS_MAX],
  bodyCacheBytes: [0, 4 * 1024 ** 3],
  commitLane: [1, 1024],
  readLane: [1, 1024],
  bulkLane: [1, 1024],
};

/**
 * Settings with their defaults. @throws RangeError naming the setting, its bounds and what was
 * given
 */
export function readSettings(given: Partial<Settings> = {}): Settings {
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  const settings: Settings = { ...DEFAULTS, ...Object.fromEntries(named) };
  for (const [name, [min, max]] of Object.entries(BOUNDS)) {
    const value = settings[name as NumberName];
    if (!Number.isSafeInteger(value) || value < min || value > max) {
      throw new RangeError(`${name} is an integer of ${min} to ${max}, got ${value}`);
    }
  }
  return settings;
}

export function readComponents(given: Partial<Components> = {}): Components {
  const { clock = systemClock, logger = silentLogger } = given;
  return {
    clock,
    random: given.random ?? systemRandom,
    logger,
    merger: given.merger ?? mergerOf(clock, logger),
    observer: given.observer,
    checkpoints: given.checkpoints ?? null,
    bucket: given.bucket,
  };
}

function mergerOf(clock: Clock, logger: Logger): RunMerger {
  if (clock === systemClock) return new WorkerMerger({ clock, logger });
  return new InTurnsMerger(async () => clock.turn?.());
}
