/**
 * Goal: a replay that goes on from a checkpoint has the control state of one from the start (I3).
 * Method: any record through state and back; then a log with every control entry, at whose every
 * slot end the state goes through a record's bytes, and the two replays are compared.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sequence } from '../../bucketstore/base/sequence.ts';
import {
  decodeCheckpointRecord,
  encodeCheckpointRecord,
} from '../../bucketstore/log/checkpoint-record.ts';
import { genesisMarker } from '../../bucketstore/log/marker.ts';
import { slotKey } from '../../bucketstore/log/names.ts';
import type { ControlEntry, Entry, Swept } from '../../bucketstore/log/records.ts';
import { decodeSlot, encodeSlot } from '../../bucketstore/log/slot.ts';
import { applySlot } from '../../bucketstore/snapshot/apply.ts';
import { controlOf, recordOf, tipOf } from '../../bucketstore/snapshot/checkpoint-state.ts';
import { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import { anyCheckpoint, keyOfRecord } from '../log/checkpoint-values.ts';
import { hashOf, INCARNATION, slotInput, uuidOf, WORLD, write } from '../log/values.ts';

test('a record is the record of its own state', () => {
  fc.assert(
    fc.property(anyCheckpoint, (record) => {
      const { documents, root, swept } = record;
      const again = recordOf(record, tipOf(record), controlOf(record), documents, root, swept);
      expect(again).toEqual(record);
    }),
    { numRuns: 150, seed: 8 },
  );
});

/** Barriers and clears, pins and an unpin, a floor, mutations between them, and a seal. */
const LOG: readonly Entry[] = [
  write(2),
  write(3),
  { kind: 'pin', op: uuidOf(4), id: 'a', owner: 'ann', expires: 0 },
  { kind: 'pin', op: uuidOf(5), id: 'b', owner: 'bob', expires: 0 },
  { kind: 'barrier', op: uuidOf(6), plan: hashOf(1), kept: [[sequence(3), 1]], schema1: true },
  write(7, { at: { epoch: 2 } }),
  { kind: 'unpin', op: uuidOf(8), id: 'a' },
  { kind: 'clear', op: uuidOf(9), plan: hashOf(1) },
  { kind: 'floor', op: uuidOf(10), at: sequence(5), mutation: sequence(3) },
  {
    kind: 'barrier',
    op: uuidOf(11),
    plan: hashOf(2),
    kept: [
      [sequence(3), 1],
      [sequence(9), 2],
    ],
  },
  { kind: 'clear', op: uuidOf(12), plan: hashOf(2) },
  { kind: 'unpin', op: uuidOf(13), id: 'b' },
  {
    kind: 'seal',
    op: uuidOf(14),
    reason: 'move',
    successor: uuidOf(1),
    location: 'gs://b/p',
  } satisfies ControlEntry,
];

describe('`controlOf()`', () => {
  test('goes on where the replay from the start is, at the end of every slot', () => {
    const marker = genesisMarker(WORLD, INCARNATION);
    let snapshot = Snapshot.atStart(marker, hashOf(7));
    let cleared: string | null = null;
    for (const entry of LOG) {
      const { tip, control, documentCount } = snapshot;
      const first = sequence(tip.sequence + 1);
      const { bytes } = encodeSlot(
        slotInput([entry], [], {
          first,
          time: tip.time + 1,
          prev: tip.hash,
          epoch: control.epoch,
          documents: documentCount + (entry.kind === 'write' ? 1 : 0),
        }),
      );
      const { slot, hash } = decodeSlot(slotKey(first), bytes);
      snapshot = applySlot(snapshot, slot, hash);
      if (entry.kind === 'clear') cleared = entry.plan;
      const retained = snapshot.documentCount;
      const swept: Swept = { plan: cleared, pruned: 0, retained };
      const root = { epoch: snapshot.control.epoch + 1, hash: hashOf(9) };
      const record = recordOf(marker, snapshot.tip, snapshot.control, retained, root, swept);
      const read = decodeCheckpointRecord(keyOfRecord(record), encodeCheckpointRecord(record));
      expect(tipOf(read)).toEqual(snapshot.tip);
      expect(controlOf(read)).toEqual(snapshot.control);
    }
    expect(snapshot.control.seal).not.toBeNull();
    expect(snapshot.tip.sequence).toBe(LOG.length + 1);
  });
});
