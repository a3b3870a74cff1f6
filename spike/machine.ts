/** What a run takes of the machine: handed in, so that a test runs it in virtual time. */
import { cpus } from 'node:os';
import type { Clock, Random } from '../bucketstore/index.ts';

export interface Machine {
  readonly clock: Clock;
  /** For identities of stores and operations; keys and arrivals come from the run's seed. */
  readonly random: Random;
  /** CPU time of this process so far, user and system, µs. */
  cpuMicros(): number;
  /** What this process holds in memory (RSS). */
  rssBytes(): number;
  /** Aborts when the run is to end before its time; what was measured until then is a result. */
  readonly signal: AbortSignal;
  /** Is told how far the run is. */
  progress(text: string): void;
  readonly description: MachineDescription;
}

export interface MachineDescription {
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
}

/** What a machine is given from outside. */
export type Surroundings = Pick<Machine, 'clock' | 'random' | 'signal' | 'progress'>;

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
    description: {
      cpu: all[0]?.model ?? 'unknown',
      cores: all.length,
      node: process.version,
    },
  };
}
