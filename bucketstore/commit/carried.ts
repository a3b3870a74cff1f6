/**
 * How members that did not commit were carried over to another tip: counts, for whoever watches.
 */
import { publish } from '../base/diagnostics.ts';
import type { Member } from './member.ts';

/** Groups are members too. */
export interface Carried {
  readonly kept: number;
  readonly rebuilt: number;
  readonly groupsKept: number;
  readonly groupsRebuilt: number;
}

export const NOTHING_CARRIED: Carried = { kept: 0, rebuilt: 0, groupsKept: 0, groupsRebuilt: 0 };

/** The counts with one member more. */
export function carriedOver(carried: Carried, member: Member, keeps: boolean): Carried {
  const { kept, rebuilt, groupsKept, groupsRebuilt } = carried;
  const group = member.mutations.length > 1 ? 1 : 0;
  return keeps
    ? { kept: kept + 1, rebuilt, groupsKept: groupsKept + group, groupsRebuilt }
    : { kept, rebuilt: rebuilt + 1, groupsKept, groupsRebuilt: groupsRebuilt + group };
}

/** Tells of them, when there is anything to tell. */
export function publishCarried(carried: Carried, store: string): void {
  if (carried.kept + carried.rebuilt === 0) return;
  publish('bucketstore:rebase', () => ({ store, ...carried }));
}
