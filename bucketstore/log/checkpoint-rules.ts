/**
 * What a checkpoint record may say by itself: the control states that a replay can reach, and no
 * others. Asserted before a record is written, refused after one is read. A problem begins with
 * the field's name as the format spells it.
 */
import {
  entryProblem,
  hashProblem,
  keptProblem,
  pinIdProblem,
  rangeProblem,
  uuidProblem,
} from './entry-rules.ts';
import { EPOCH_MAX } from './names.ts';
import { type CheckpointRecord, DOCUMENTS_MAX } from './records.ts';

/** What is wrong with a checkpoint record, or null. */
export function checkpointProblem(record: CheckpointRecord): string | null {
  const { sequence: at, epoch, floor, swept, root } = record;
  return (
    uuidProblem('world_id', record.worldId) ??
    uuidProblem('incarnation_id', record.incarnationId) ??
    // The first slot of a log holds 2 or more, and a record is above the start.
    rangeProblem('sequence', at, 2, Number.MAX_SAFE_INTEGER) ??
    hashProblem('slot', record.slot) ??
    rangeProblem('time', record.time, 0, Number.MAX_SAFE_INTEGER) ??
    rangeProblem('documents', record.documents, 0, DOCUMENTS_MAX) ??
    rangeProblem('epoch', epoch, 1, EPOCH_MAX) ??
    rangeProblem('floor.at', floor.at, 2, at) ??
    rangeProblem('floor.mutation', floor.mutation, 1, floor.at - 1) ??
    rangeProblem('mutation', record.mutation, 1, at) ??
    barriersProblem(record) ??
    pinsProblem(record) ??
    rangeProblem('swept.pruned', swept.pruned, 0, Number.MAX_SAFE_INTEGER) ??
    // Of every document at least the current version is retained.
    rangeProblem('swept.retained', swept.retained, record.documents, Number.MAX_SAFE_INTEGER) ??
    sealProblem(record) ??
    rangeProblem('root.epoch', root.epoch, epoch, EPOCH_MAX) ??
    hashProblem('root.hash', root.hash)
  );
}

/** What barriers leave behind hangs together: all of it is there after one, and none before. */
function barriersProblem({
  sequence: at,
  epoch,
  plan,
  kept,
  schema1,
  swept,
}: CheckpointRecord): string | null {
  const problem =
    (plan === null ? null : hashProblem('plan', plan)) ??
    (swept.plan === null ? null : hashProblem('swept.plan', swept.plan)) ??
    keptProblem(kept);
  if (problem !== null) return problem;
  const late = kept.findIndex(([sequenceOf, epochOf]) => sequenceOf >= at || epochOf >= epoch);
  if (late >= 0) return `kept[${late}]: not before its barrier`;
  const planned = plan !== null || swept.plan !== null;
  if (planned && kept.length === 0) return 'kept: empty after a barrier';
  if (!planned && kept.length > 0) return 'kept: not empty without a plan, open or cleared';
  return schema1 && kept.length === 0 ? 'schema1: without a barrier' : null;
}

function pinsProblem({ sequence: at, pins }: CheckpointRecord): string | null {
  const ids = new Set<string>();
  let before = 1;
  for (const [index, [id, pinned]] of pins.entries()) {
    const problem =
      pinIdProblem(`pins[${index}][0]`, id) ??
      rangeProblem(`pins[${index}][1]`, pinned, before + 1, at);
    if (problem !== null) return problem;
    if (ids.has(id)) return `pins[${index}][0]: twice`;
    ids.add(id);
    before = pinned;
  }
  return null;
}

function sealProblem({
  sequence: at,
  mutation,
  plan,
  pins,
  successor,
}: CheckpointRecord): string | null {
  if (successor === null) return null;
  const problem = entryProblem({ kind: 'seal', ...successor });
  if (problem !== null) return `successor.${problem}`;
  if (plan !== null) return 'successor: beside an open plan';
  if (pins.length > 0) return 'successor: beside pins';
  return mutation === at ? 'successor: the last entry is a mutation' : null;
}
