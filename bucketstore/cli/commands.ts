/** Every command, in the order help shows them. */
import type { Command } from './command.ts';
import { doctor } from './doctor.ts';
import { ground } from './ground.ts';

export const commands: readonly Command[] = [doctor, ground];
