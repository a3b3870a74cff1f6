/** What a run takes of the machine: handed in, so that a test runs it in virtual time. */
import { cpus } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock, Random } from '../bucketstore/index.ts';

export interface Machine {
  readonly clock: Clock;
  /** For identities of stores and operations; keys and arrivals come from the run's seed. */
  readonly random: Random;
  /** CPU time of this process so far, user and system, µs. */
  cpuMicros(): number;
  /** What this process holds in memory (RSS). */
  rssBytes(): number;
  /**
   * What this process has a use for: JavaScript's heap and what lies outside of it, buffers
   * included, once everything else has been collected. Takes a second for a large heap.
   */
  heldBytes(): number;
  /** Watches from now on how late the event loop is. */
  watchLoop(): LoopWatch;
  /** Aborts when the run is to end before its time; what was measured until then is a result. */
  readonly signal: AbortSignal;
  /** Is told how far the run is. */
  progress(text: string): void;
  readonly description: MachineDescription;
}

export interface LoopWatch {
  /** Ends it. @returns how late the loop was, ms, at the 99.9th percentile; null: not measured */
  stop(): number | null;
}

export interface MachineDescription {
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
}

/** What a machine is given from outside. */
export type Surroundings = Pick<Machine, 'clock' | 'random' | 'signal' | 'progress' | 'watchLoop'>;

/** This machine. */
export function thisMachine(surroundings: Surroundings): Machine {
  const all = cpus();
  return {
    ...surroundings,
    cpuMicros: () => {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    rssBytes: () => process.memoryUsage.rss(),
    heldBytes,
    description: {
      cpu: all[0]?.model ?? 'unknown',
      cores: all.length,
      node: process.version,
    },
  };
}

/** Collects twice: what the first frees may have held what the second does. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') for (let round = 0; round < 2; round++) collect();
  // `arrayBuffers` is a part of `external`.
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
