/**
 * One step of a compactor: the slots from a checkpoint to a slot end, and all that a checkpoint
 * there says but where its objects lie. Pure: a function of the log and of the checkpoint below
 * (I4).
 */
import { integrityError } from '../bucketstore/base/errors.ts';
import { inTurns, type Turn } from '../bucketstore/base/in-turns.ts';
import { type Sequence, sequence } from '../bucketstore/base/sequence.ts';
import { belongs, follows } from '../bucketstore/log/chain.ts';
import { isMutation } from '../bucketstore/log/entry-rules.ts';
import type { ReadSlot } from '../bucketstore/log/log.ts';
import { slotKey } from '../bucketstore/log/names.ts';
import type { Entry, Swept } from '../bucketstore/log/records.ts';
import { controlAfter } from '../bucketstore/snapshot/apply.ts';
import type { Snapshot } from '../bucketstore/snapshot/snapshot.ts';
import type { ControlState, Tip } from '../bucketstore/snapshot/state.ts';
import { type BasePosition, basePositionsThrough } from './base-positions.ts';
import { Intake } from './intake.ts';
import type { Interval } from './interval.ts';
import { planRecords, planRuns } from './plan.ts';
import type { LifeStart, Root, RunRef } from './root.ts';
import { planSteps, type RunStep } from './run-steps.ts';

/** What a compactor builds on: a verified checkpoint that counts, or the start of the life. */
export interface CheckpointBelow {
  /** The state at it, with no change since. */
  readonly snapshot: Snapshot;
  /** null: a start with nothing. */
  readonly root: Root | null;
  readonly swept: Swept;
}

/** What the checkpoint at the end of a step says. */
export interface StepResult {
  readonly tip: Tip;
  readonly control: ControlState;
  /** Archived ones included. */
  readonly documents: number;
  readonly swept: Swept;
  readonly base: BasePosition;
  readonly runs: readonly RunStep<RunRef>[];
  readonly records: readonly RunStep<RunRef>[];
  /** The changes, cut as the steps want them. */
  readonly intake: Intake;
}

/**
 * Takes the slots in. One or two `get`s for each document that was archived without a change.
 * @param slots from the checkpoint on, contiguous; at least one
 * @param turn taken between slots
 * @throws StoreError `INTEGRITY` naming the slot that does not follow; what reading details throws
 */
export async function takeStep(
  life: LifeStart,
  below: CheckpointBelow,
  slots: readonly ReadSlot[],
  turn: Turn,
): Promise<StepResult> {
  const tip = endOf(below.snapshot, slots);
  const creations = await inTurns(creationsIn(slots), turn);
  const before = below.snapshot.documentCount;
  const from = below.root?.base ?? { position: life.sequence, documents: life.documents };
  const countAt = counter(before, creations);
  const base = basePositionsThrough(from, tip.sequence, countAt).at(-1) ?? from;
  const { sequence: at } = below.snapshot.tip;
  const through = tip.sequence;
  const runs = planSteps(
    { sequence: at, runs: below.root?.runs ?? [] },
    planRuns({ base: base.position, through }),
  );
  const records = planSteps(
    { sequence: at, runs: below.root?.records ?? [] },
    planRecords({ start: life.sequence, startHasRoot: life.hasRoot, through }),
  );
  const intake = new Intake({
    base: below.snapshot.base,
    runs: slotsOf(runs),
    records: slotsOf(records),
  });
  const control = new ControlWalk(below);
  for (const { slot } of slots) {
    for (const [index, entry] of slot.entries.entries()) {
      const own = sequence(slot.first + index);
      if (isMutation(entry)) await intake.add(entry, own);
      control.pass(entry, own, intake, slot.first);
    }
    // A slot has 256 entries at most.
    await turn();
  }
  const documents = before + creations.length;
  return { tip, documents, base, runs, records, intake, ...control.end(intake) };
}

/** Control state and sweep counters along the entries. */
class ControlWalk {
  #control: ControlState;
  readonly #before: Swept;
  #plan: string | null;
  /** Pruned versions before what the intake counts; negative after a barrier. */
  #pruned: number;

  constructor({ snapshot, swept }: CheckpointBelow) {
    this.#control = snapshot.control;
    this.#before = swept;
    this.#plan = swept.plan;
    this.#pruned = swept.pruned;
  }

  pass(entry: Entry, at: Sequence, intake: Intake, slot: Sequence): void {
    if (isMutation(entry)) {
      this.#control = { ...this.#control, mutation: at };
      return;
    }
    const next = controlAfter(this.#control, entry, at);
    if (typeof next === 'string') throw integrityError(slotKey(slot), `entry ${at}: ${next}`);
    this.#control = next;
    if (entry.kind === 'barrier') this.#pruned = -intake.pruned;
    if (entry.kind === 'clear') this.#plan = entry.plan;
  }

  end({ created, pruned }: Intake): Pick<StepResult, 'control' | 'swept'> {
    const retained = this.#before.retained + created - pruned;
    return {
      control: this.#control,
      swept: { plan: this.#plan, pruned: this.#pruned + pruned, retained },
    };
  }
}

/** The end of a chain of slots that continues a state. */
function endOf({ identity, tip }: Snapshot, slots: readonly ReadSlot[]): Tip {
  let end = tip;
  for (const { slot, hash } of slots) {
    const problem = belongs(identity, slot) ?? follows(end, slot);
    if (problem !== null) throw integrityError(slotKey(slot.first), problem);
    end = { sequence: slot.last, hash, time: slot.time };
  }
  return end;
}

/** Slots that are looked through in one step. */
const STEP_SLOTS = 64;

/** Sequences of the entries that make a document, ascending. */
function* creationsIn(slots: readonly ReadSlot[]): Generator<undefined, Sequence[]> {
  const creations: Sequence[] = [];
  for (const [count, { slot }] of slots.entries()) {
    for (const [index, entry] of slot.entries.entries()) {
      const isCreation = entry.kind === 'write' && entry.version === 1;
      if (isCreation) creations.push(sequence(slot.first + index));
    }
    if (count % STEP_SLOTS === STEP_SLOTS - 1) yield;
  }
  return creations;
}

/** Documents at positions that are asked for in ascending order. */
function counter(before: number, creations: readonly Sequence[]): (position: number) => number {
  let passed = 0;
  return (position) => {
    while ((creations[passed] ?? position + 1) <= position) passed += 1;
    return before + passed;
  };
}

function slotsOf(steps: readonly RunStep<RunRef>[]): Interval[] {
  return steps.flatMap((step) =>
    step.kind === 'merged' && step.slots !== null ? [step.slots] : [],
  );
}
