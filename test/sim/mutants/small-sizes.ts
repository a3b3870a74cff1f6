/**
 * The sound store with smaller checkpoints: what the simulation runs, and what every mutant is made
 * of. Constants of the format and of the compactor are edited, nothing else, so that the product
 * has no switch for it.
 */
import { SMALL } from '../sizes.ts';
import type { Edit, Mutant } from './mutate.ts';

const CONSTANTS = 'checkpoint/constants.ts';

/** A constant as it stands in its file, and what it becomes. */
function constant(file: string, name: string, from: string, to: number): Edit {
  return { file, find: `${name} = ${from};`, replace: `${name} = ${to};` };
}

export const SMALL_SIZES: Mutant = {
  name: 'small-sizes',
  rule: 'none: it keeps them all',
  edits: [
    constant(CONSTANTS, 'export const UNIT', '1024', SMALL.unit),
    constant(CONSTANTS, 'RUN_FACTOR', '8', SMALL.factor),
    constant(CONSTANTS, 'BASE_UNITS_MIN', '16', SMALL.baseUnits),
    constant(CONSTANTS, 'BLOCK_BYTES', '65_536', SMALL.blockBytes),
    constant(CONSTANTS, 'HISTORY_VERSIONS', '256', SMALL.historyVersions),
    constant(CONSTANTS, 'PACK_BYTES_MAX', '4_194_304', SMALL.packBytes),
    // An entry of a segment is shorter than what lies between them (`checkpoint/kept-tables.ts`).
    constant(CONSTANTS, 'SEGMENT_BYTES_MIN', '2_097_152', 1_500),
    constant(CONSTANTS, 'SEGMENT_BYTES_MAX', '8_388_608', 6_000),
    constant(CONSTANTS, 'SEGMENT_CUT_MODULUS', '2048', 3),
    { file: 'checkpoint/backlog.ts', find: 'slots: 1024,', replace: 'slots: 40,' },
    constant('checkpoint/table-builder.ts', 'ROOM_BYTES', '262_144', 4_096),
    constant('checkpoint/triggers.ts', 'FULL_SLOTS', '1024', 25),
    constant('checkpoint/triggers.ts', 'MANY_MUTATIONS', '512', 12),
    // Steps between which others have their turn.
    constant('bucketstore/snapshot/resting.ts', 'APPLIED_STEP', '256', 4),
    constant('bucketstore/snapshot/rebase.ts', 'REBASE_STEP', '256', 8),
  ],
};
