/** The mutants that make checkpoints wrongly, or open a world from them wrongly. */
import { SMALL } from '../sizes.ts';
import type { Mutant } from './mutate.ts';

const LOAD = 'bucketstore/snapshot/load.ts';
const WRITE = 'checkpoint/write.ts';

export const BROKEN_CHECKPOINTS: readonly Mutant[] = [
  {
    name: 'base-of-other-runs',
    rule: 'a base holds the newest entry of all runs up to its position',
    edits: [
      {
        file: 'checkpoint/run-steps.ts',
        find: "kind: 'merged', interval, runs, slots: slotsOf(",
        replace: `kind: 'merged', interval,
    runs: interval.after === 0 ? runs.toSpliced(1, 1) : runs, slots: slotsOf(`,
      },
    ],
  },
  {
    name: 'control-of-the-one-below',
    rule: 'control state is part of a checkpoint (I4)',
    edits: [
      {
        file: WRITE,
        find: 'step.tip, step.control,',
        replace: 'step.tip, below.snapshot.control,',
      },
    ],
  },
  {
    name: 'packed-too-far',
    rule: 'every inlined version up to `packed_through` is in a pack',
    edits: [
      {
        file: 'checkpoint/pack-units.ts',
        find: 'packs.push(...packed);',
        replace: `if (unit.through % ${2 * SMALL.unit} === 0) packs.push(...packed);`,
      },
    ],
  },
  {
    name: 'cold-start-by-probes',
    rare: true,
    rule: 'a cold start lists the log, and the records again before it concludes anything',
    edits: [
      { file: LOAD, find: 'backlog: true, believe', replace: 'backlog: false, believe' },
      {
        file: LOAD,
        find: 'if (await isOvertaken(parts, base, snapshot.tip.sequence, options)) return null;',
        replace: '',
      },
    ],
  },
  {
    name: 'fallback-below-start',
    hint: 21,
    rule: 'what lies at or below the start is of another life, whatever it looks like',
    edits: [
      { file: LOAD, find: 'if (place.sequence <= start.tip.sequence) break;', replace: '' },
      {
        file: LOAD,
        find: 'const problem = belongs(identity, record);',
        replace: 'const problem = null;',
      },
      {
        file: 'checkpoint/root-rules.ts',
        find: 'const { sequence, packs } = root;',
        replace: `if (root.sequence <= life.sequence) return null;
  const { sequence, packs } = root;`,
      },
    ],
  },
];
