/**
 * What a root may say by itself: what a compactor can build in one life of a world, and nothing
 * else. Asserted before a root is written, refused after one is read. A problem begins with the
 * field's name as the format spells it.
 */
import { hashProblem, rangeProblem } from '../bucketstore/log/entry-rules.ts';
import { EPOCH_MAX } from '../bucketstore/log/names.ts';
import { DOCUMENTS_MAX, INLINE_BYTES_MAX } from '../bucketstore/log/records.ts';
import { type BasePosition, nextBasePosition } from './base-positions.ts';
import { PACK_BYTES_MAX, UNIT } from './constants.ts';
import { type Interval, multipleFrom } from './interval.ts';
import { directoryBytes, type PackRef } from './pack.ts';
import { headProblem } from './pack-directory.ts';
import { planRecords, planRuns } from './plan.ts';
import type { LifeStart, Root, RunRef } from './root.ts';

/** Epochs that what a root names can be of. */
interface Epochs {
  readonly min: number;
  readonly max: number;
}

/**
 * What is wrong with a root, or null.
 * @param epoch the one that it is written in: nothing that it names is younger
 */
export function rootProblem(root: Root, epoch: number, life: LifeStart): string | null {
  const { sequence, packs } = root;
  const epochs = { min: life.epoch, max: epoch };
  return (
    rangeProblem('epoch', epoch, life.epoch, EPOCH_MAX) ??
    // A life that began with nothing has no root there.
    rangeProblem(
      'sequence',
      sequence,
      life.sequence + Number(!life.hasRoot),
      Number.MAX_SAFE_INTEGER,
    ) ??
    positionProblem('packed_through', root.packedThrough, root, life) ??
    positionProblem('base.position', root.base.position, root, life) ??
    baseProblem(root, life) ??
    runsProblem(
      'runs',
      root.runs,
      planRuns({ base: root.base.position, through: sequence }),
      epochs,
    ) ??
    runsProblem('records', root.records, planRecords(planOf(root, life)), epochs) ??
    packsProblem(packs, root, epochs, life)
  );
}

/** From where the life began to the sequence, there or where a unit ends. */
function positionProblem(
  field: string,
  position: number,
  { sequence }: Root,
  life: LifeStart,
): string | null {
  const problem = rangeProblem(field, position, life.sequence, sequence);
  if (problem !== null || position === life.sequence || position % UNIT === 0) return problem;
  return `${field}: ${position} is no end of a unit`;
}

/** The last base at or before the sequence. */
function baseProblem({ sequence, base }: Root, life: LifeStart): string | null {
  const problem = rangeProblem('base.documents', base.documents, 0, DOCUMENTS_MAX);
  if (problem !== null) return problem;
  const start = { position: life.sequence, documents: life.documents };
  if (base.position === start.position) {
    if (base.documents !== start.documents) {
      return `base.documents: ${base.documents}, the life began with ${start.documents}`;
    }
  } else if (base.position < nextBase(start)) {
    return `base.position: ${base.position} is before the first base after ${start.position}`;
  }
  return nextBase(base) > sequence ? null : `base.position: ${base.position} is not the last base`;
}

/** Where the next base ends; never, close to the last sequence of all. */
function nextBase(base: BasePosition): number {
  const isFar = base.position < Number.MAX_SAFE_INTEGER - DOCUMENTS_MAX;
  return isFar ? nextBasePosition(base) : Number.POSITIVE_INFINITY;
}

function planOf({ sequence }: Root, life: LifeStart): Parameters<typeof planRecords>[0] {
  return { start: life.sequence, startHasRoot: life.hasRoot, through: sequence };
}

/** They are the plan's, one for one: what is built on them rests on it. */
function runsProblem(
  field: string,
  runs: readonly RunRef[],
  plan: readonly Interval[],
  epochs: Epochs,
): string | null {
  for (const [index, run] of runs.entries()) {
    const name = `${field}[${index}]`;
    const planned = plan[index];
    if (planned === undefined) return `${name}: one more than the ${plan.length} planned`;
    const problem =
      rangeProblem(`${name}.after`, run.after, planned.after, planned.after) ??
      rangeProblem(`${name}.through`, run.through, planned.through, planned.through) ??
      rangeProblem(`${name}.epoch`, run.epoch, epochs.min, epochs.max) ??
      hashProblem(`${name}.hash`, run.hash);
    if (problem !== null) return problem;
  }
  return runs.length === plan.length ? null : `${field}: ${runs.length}, planned ${plan.length}`;
}

function packsProblem(
  packs: readonly PackRef[],
  { packedThrough, base }: Root,
  epochs: Epochs,
  life: LifeStart,
): string | null {
  // Sequence 1 is genesis, and a start that nothing came before has no packs.
  let before = life.hasRoot ? 1 : life.sequence;
  for (const [index, pack] of packs.entries()) {
    const name = `packs[${index}]`;
    const problem = packProblem(pack, epochs);
    if (problem !== null) return `${name}.${problem}`;
    const misplaced =
      rangeProblem(`${name}.first`, pack.first, before + 1, packedThrough) ??
      rangeProblem(`${name}.last`, pack.last, pack.first, packedThrough);
    if (misplaced !== null) return misplaced;
    // What lies below the base may have been rewritten, or imported as one row.
    const end = pack.first > base.position ? multipleFrom(pack.first, UNIT) : base.position;
    if (pack.last > end) return `${name}.last: ${pack.last} is beyond ${end}, where it ends`;
    before = pack.last;
  }
  return null;
}

function packProblem(pack: PackRef, epochs: Epochs): string | null {
  const problem = headProblem(pack);
  if (problem !== null) return problem;
  const length = directoryBytes(pack);
  const bytesMax = Math.min(PACK_BYTES_MAX, length + pack.versions * INLINE_BYTES_MAX);
  return (
    rangeProblem('directory[0]', pack.directory.length, length, length) ??
    hashProblem('directory[1]', pack.directory.hash) ??
    rangeProblem('bytes', pack.bytes, length + pack.versions, bytesMax) ??
    rangeProblem('epoch', pack.epoch, epochs.min, epochs.max) ??
    hashProblem('hash', pack.hash)
  );
}
