/** What a run takes of the machine: handed in, so that a test runs it in virtual time. */
import { cpus } from 'node:os';
import { type Clock, type Random, systemClock, systemRandom } from '../bucketstore/index.ts';

export interface Machine {
  readonly clock: Clock;
  /** For identities of stores and operations; keys and arrivals come from the run's seed. */
  readonly random: Random;
  /** CPU time of this process so far, user and system, µs. */
  cpuMicros(): number;
  readonly description: MachineDescription;
}

export interface MachineDescription {
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
}

/** This machine. */
export function thisMachine(): Machine {
  const all = cpus();
  return {
    clock: systemClock,
    random: systemRandom,
    cpuMicros: () => {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    description: {
      cpu: all[0]?.model ?? 'unknown',
      cores: all.length,
      node: process.version,
    },
  };
}
