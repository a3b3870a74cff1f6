/** Every command, in the order help shows them. */
import { append } from './append.ts';
import { archive, unarchive } from './archive.ts';
import type { Command } from './command.ts';
import { compact } from './compact.ts';
import { doctor } from './doctor.ts';
import { get } from './get.ts';
import { importCommand } from './import.ts';
import { init } from './init.ts';
import { log } from './log.ts';
import { ls } from './ls.ts';
import { put } from './put.ts';
import { spike } from './spike.ts';
import { stat } from './stat.ts';
import { tour } from './tour.ts';
import { verify } from './verify.ts';
import { versions } from './versions.ts';

export const commands: readonly Command[] = [
  init,
  importCommand,
  put,
  get,
  append,
  archive,
  unarchive,
  ls,
  versions,
  log,
  stat,
  verify,
  compact,
  doctor,
  spike,
  tour,
];
