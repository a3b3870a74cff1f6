/**
 * What a seed is going to do, as data: drawn before anything runs, so that a failing plan can be
 * made smaller by leaving things out.
 */
import type { CalledMutation, ReadCall } from './history.ts';
import type { DerivedType } from './oracle/keys.ts';
import type { CallKind, WaitKind } from './wait.ts';

/** What a client will expect of the document: a version known when it calls, or something fixed. */
export type PlannedExpected = 'any' | 'absent' | 'known version' | 'known etag' | 'older version';

export interface PlannedMutation extends Omit<CalledMutation, 'expected' | 'requires'> {
  readonly expected: PlannedExpected;
  /** A document that must be where it is known to be. */
  readonly requires: string | null;
}

export interface PlannedRead {
  readonly what: ReadCall['what'];
  /** For `hash`: of the body that is known to be there. */
  readonly path: string;
}

export type PlanEvent = { readonly at: number } & (
  | {
      readonly kind: 'write';
      readonly store: number;
      readonly mutations: readonly PlannedMutation[];
      readonly deadlineMs: number;
      /** Sent to a second store at the same moment, with the same operation. */
      readonly twin: number | null;
    }
  | {
      readonly kind: 'view';
      readonly store: number;
      readonly reads: readonly PlannedRead[];
      /** A search, so long after the view was answered. */
      readonly next: { readonly afterMs: number; readonly read: PlannedRead } | null;
    }
  /** `on`: when the process next waits so, else at once. */
  | {
      readonly kind: 'crash';
      readonly store: number;
      readonly on: WaitKind | CallKind | null;
      readonly restartMs: number;
      /** And again while it opens: at this wait. */
      readonly again: WaitKind | null;
    }
  | {
      readonly kind: 'pause';
      readonly store: number;
      readonly on: WaitKind | CallKind | null;
      readonly ms: number;
      readonly hidden: boolean | 'monotonic';
      /** What it has sent leaves its buffers only afterwards. */
      readonly frozen: boolean;
    }
  | { readonly kind: 'jump'; readonly store: number; readonly ms: number }
  /**
   * A checkpoint, perhaps a floor or a barrier, and the removal of what the grace has passed for.
   */
  | {
      readonly kind: 'sweep';
      readonly store: number;
      readonly checkpoint: boolean;
      readonly control: 'floor' | 'barrier' | 'pin' | null;
    }
  /** Has the store make checkpoints now. */
  | { readonly kind: 'compact'; readonly store: number }
  /** Something of the newest checkpoint is lost or overwritten, for `ms`. */
  | {
      readonly kind: 'damage';
      /** Without meaning: all stores meet it. */
      readonly store: number;
      readonly what: DerivedType;
      readonly how: 'removed' | 'overwritten';
      readonly ms: number;
    }
);

export interface PlannedStore {
  readonly inlineBytes: number;
  readonly batchMax: number;
  readonly queueMembers: number;
  /** Whether it makes checkpoints in the background. */
  readonly compact: boolean;
  /** Whether its driver gives a read up that stalls, long before the call's deadline. */
  readonly idleLimit: boolean;
  readonly wallOffsetMs: number;
}

export interface Plan {
  readonly seed: number;
  readonly stores: readonly PlannedStore[];
  readonly serverOffsetMs: number;
  /** Whether a world lived at this location before. */
  readonly earlierLife: boolean;
  /** Checkpoints that a floor and a barrier keep. */
  readonly keep: number;
  /** Writes that must be acknowledged in all: what the events lack is written at the end. */
  readonly acknowledged: number;
  /** Nothing goes wrong on the network. */
  readonly calm: boolean;
  /** In order of time. */
  readonly events: readonly PlanEvent[];
}
