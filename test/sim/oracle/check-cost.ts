/** What writes cost in objects (I9): a staged version is one that somebody asked for, and few. */
import { decodeStored } from '../../oracle/objects.ts';
import type { Violation } from '../history.ts';
import type { Attempts } from './attempts.ts';
import type { GhostLog } from './ghost-log.ts';
import { problemOf } from './keys.ts';

export function checkCost(ghost: GhostLog, calls: Attempts): Violation[] {
  const writes = [...calls.values()].flat().flatMap((call) => {
    return call.mutations.map((mutation) => ({ ...call, mutation }));
  });
  const found: Violation[] = [];
  for (const { key, bytes, at } of ghost.blobs) {
    try {
      const body = Buffer.from(decodeStored(key, bytes).body).toString();
      const asked = writes.some(({ called, mutation }) => {
        if (called > at || mutation.kind === 'archive') return false;
        return mutation.kind === 'append' ? body.endsWith(mutation.body) : body === mutation.body;
      });
      if (!asked) found.push({ rule: 'I9', detail: `${key} is of no write that was asked for` });
    } catch (error) {
      found.push({ rule: 'I9', detail: problemOf(error) });
    }
  }
  // A version is staged once for each slot that its request met while it waited, and at first.
  let most = 0;
  for (const { called, returned } of writes) {
    const until = returned ?? Number.POSITIVE_INFINITY;
    const met = ghost.slots.filter(({ at }) => at >= called && at <= until);
    most += 1 + met.length;
  }
  if (ghost.blobs.length > most) {
    const detail = `${ghost.blobs.length} versions were staged, ${most} are enough`;
    found.push({ rule: 'I9', detail });
  }
  return found;
}
