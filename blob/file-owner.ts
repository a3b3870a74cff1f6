/**
 * Who made a temporary file, and whether that process still runs.
 *
 * An owner is `<space>-<pid>-<start>`: the machine's boot and the process ID namespace, the process
 * ID, and when that process started, so that a reused process ID is not taken for its earlier
 * holder. Within one space the answer is exact; across spaces (another host or container on a
 * shared directory, or before a reboot), and where there is no /proc, it is unknown and the caller
 * goes by age.
 */
import { readFile, readlink } from 'node:fs/promises';

export interface Owners {
  /** This process. Contains no `~`. */
  self(): Promise<string>;
  state(owner: string): Promise<'alive' | 'dead' | 'unknown'>;
}

/** Owners by /proc. */
export const processOwners: Owners = {
  async self() {
    const start = await startOf(process.pid);
    return `${await space()}-${process.pid}-${start ?? 0}`;
  },
  async state(owner) {
    const match = /^([0-9a-f]+\.[0-9]+)-([0-9]+)-([0-9]+)$/.exec(owner);
    if (match === null || match[1] !== (await space())) return 'unknown';
    const start = await startOf(Number(match[2]));
    return start === match[3] ? 'alive' : 'dead';
  },
};

async function space(): Promise<string> {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'latin1');
    const namespace = await readlink('/proc/self/ns/pid');
    return `${boot.slice(0, 8)}.${namespace.replace(/[^0-9]/g, '')}`;
  } catch {
    return 'elsewhere';
  }
}

/** When a process started, in ticks since the boot; undefined when it does not run (any more). */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    // The command may hold spaces and brackets; what follows its last bracket does not.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ended = fields[0] === 'Z' || fields[0] === 'X';
    return ended ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
