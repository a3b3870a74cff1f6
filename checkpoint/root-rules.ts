/**
 * What a root may say by itself: what a compactor can build over some log, and nothing else.
 * Asserted before a root is written, refused after one is read. A problem begins with the field's
 * name as the format spells it.
 */
import { hashProblem, rangeProblem } from '../bucketstore/log/entry-rules.ts';
import { EPOCH_MAX } from '../bucketstore/log/names.ts';
import { DOCUMENTS_MAX, INLINE_BYTES_MAX } from '../bucketstore/log/records.ts';
import { PACK_BYTES_MAX, UNIT } from './constants.ts';
import { multipleFrom } from './interval.ts';
import { directoryBytes, type PackRef } from './pack.ts';
import { headProblem } from './pack-directory.ts';
import type { Root, RunRef } from './root.ts';

/**
 * What is wrong with a root, or null.
 * @param epoch the one that it is written in: nothing that it names is younger
 */
export function rootProblem(root: Root, epoch: number): string | null {
  const { sequence, packedThrough, base, runs, records, packs } = root;
  return (
    rangeProblem('epoch', epoch, 1, EPOCH_MAX) ??
    rangeProblem('sequence', sequence, 1, Number.MAX_SAFE_INTEGER) ??
    rangeProblem('packed_through', packedThrough, 1, sequence) ??
    rangeProblem('base.position', base.position, 1, sequence) ??
    rangeProblem('base.documents', base.documents, 0, DOCUMENTS_MAX) ??
    startProblem(root) ??
    rowProblem('runs', runs, root, epoch) ??
    baseProblem(root) ??
    rowProblem('records', records, root, epoch) ??
    recordsProblem(root) ??
    packsProblem(packs, root, epoch)
  );
}

/** A position inside a unit is the world's start; both cannot be beyond it then. */
function startProblem({ packedThrough, base }: Root): string | null {
  const { position } = base;
  if (!isUnitEnd(packedThrough) && packedThrough > position) {
    return `packed_through: ${packedThrough} is no end of a unit, and beyond base.position`;
  }
  if (!isUnitEnd(position) && position > packedThrough) {
    return `base.position: ${position} is no end of a unit, and beyond packed_through`;
  }
  return null;
}

/** Intervals without gaps up to the sequence, each after the first cut where units end. */
function rowProblem(
  field: string,
  runs: readonly RunRef[],
  { sequence }: Root,
  epoch: number,
): string | null {
  let before: number = runs[0]?.after ?? 0;
  for (const [index, run] of runs.entries()) {
    const name = `${field}[${index}]`;
    const problem =
      rangeProblem(`${name}.after`, run.after, before, before) ??
      rangeProblem(`${name}.through`, run.through, before + 1, sequence) ??
      rangeProblem(`${name}.epoch`, run.epoch, 1, epoch) ??
      hashProblem(`${name}.hash`, run.hash);
    if (problem !== null) return problem;
    if (index > 0 && !isUnitEnd(run.through) && run.through !== sequence) {
      return `${name}.through: ${run.through} is no end of a unit`;
    }
    before = run.through;
  }
  if (runs.length === 0 || before === sequence) return null;
  return `${field}[${runs.length - 1}].through: ${before} is not the sequence ${sequence}`;
}

function baseProblem({ base, runs: [first] }: Root): string | null {
  if (first === undefined) return 'runs: no base';
  if (first.after !== 0) return `runs[0].after: ${first.after}, the base begins at 0`;
  if (first.through === base.position) return null;
  return `runs[0].through: ${first.through} is not base.position ${base.position}`;
}

/** They begin with the world, or at its start when nothing came before. */
function recordsProblem({ sequence, base, records: [first] }: Root): string | null {
  if (first !== undefined) return rangeProblem('records[0].after', first.after, 0, base.position);
  if (sequence === base.position && base.documents === 0) return null;
  return `records: none up to the sequence ${sequence}`;
}

function packsProblem(
  packs: readonly PackRef[],
  { packedThrough, base }: Root,
  epoch: number,
): string | null {
  let before = 1;
  for (const [index, pack] of packs.entries()) {
    const name = `packs[${index}]`;
    const problem = packProblem(pack, epoch);
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

function packProblem(pack: PackRef, epoch: number): string | null {
  const problem = headProblem(pack);
  if (problem !== null) return problem;
  const length = directoryBytes(pack);
  return (
    rangeProblem('directory[0]', pack.directory.length, length, length) ??
    hashProblem('directory[1]', pack.directory.hash) ??
    rangeProblem(
      'bytes',
      pack.bytes,
      length + pack.versions,
      Math.min(PACK_BYTES_MAX, length + pack.versions * INLINE_BYTES_MAX),
    ) ??
    rangeProblem('epoch', pack.epoch, 1, epoch) ??
    hashProblem('hash', pack.hash)
  );
}

function isUnitEnd(position: number): boolean {
  return position % UNIT === 0;
}
