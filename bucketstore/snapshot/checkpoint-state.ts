/**
 * Between a checkpoint record and the state that replay goes on from. Pure, and inverse for what
 * both sides hold, so a replay from a checkpoint and one from the start agree (I3).
 */
import { sequence } from '../base/sequence.ts';
import type { CheckpointRecord, Swept } from '../log/records.ts';
import type { Identity } from './snapshot.ts';
import type { ControlState, Tip } from './state.ts';

/** The end of the log at a checkpoint: what the next slot continues. */
export function tipOf({ sequence: at, slot, time }: CheckpointRecord): Tip {
  return { sequence: at, hash: slot, time };
}

/** What control entries had decided up to a checkpoint. */
export function controlOf(record: CheckpointRecord): ControlState {
  const { epoch, floor, mutation, plan, kept, schema1, pins, successor } = record;
  const seal = successor === null ? null : { kind: 'seal' as const, ...successor };
  return { epoch, floor, mutation, plan, kept, schema1, pins, seal };
}

/**
 * The record of a checkpoint at a tip.
 * @param documents count at the tip, archived ones included
 * @param root under the epoch that the checkpoint is written in: the record's name has that too
 */
export function recordOf(
  identity: Identity,
  tip: Tip,
  control: ControlState,
  documents: number,
  root: CheckpointRecord['root'],
  swept: Swept,
): CheckpointRecord {
  const { worldId, incarnationId } = identity;
  const { epoch, floor, mutation, plan, kept, schema1, pins } = control;
  return {
    worldId,
    incarnationId,
    sequence: tip.sequence,
    slot: tip.hash,
    time: tip.time,
    documents,
    epoch,
    floor: { at: sequence(floor.at), mutation: sequence(floor.mutation) },
    mutation: sequence(mutation),
    plan,
    kept,
    schema1,
    pins,
    swept,
    successor: successorOf(control),
    root,
  };
}

function successorOf({ seal }: ControlState): CheckpointRecord['successor'] {
  if (seal === null) return null;
  const { kind: _, ...successor } = seal;
  return successor;
}

/**
 * Whether a checkpoint counts, for keeping and as what another builds on: it was written in the
 * epoch of now, or the latest barrier names it. Any other is dead, whatever it looks like.
 */
export function counts(
  { epoch, kept }: ControlState,
  place: Pick<CheckpointRecord, 'sequence' | 'epoch'>,
): boolean {
  const named = kept.some(([at, of]) => at === place.sequence && of === place.epoch);
  return place.epoch === epoch || named;
}
