/** What may be deleted, and when (I16): judged by the log and by what is in the bucket. */
import type { OracleMarker } from '../../oracle/objects.ts';
import type { GhostSlot } from './ghost-document.ts';
import type { GhostWorld, Report } from './ghost-state.ts';
import type { OracleRecord } from './keys.ts';

export class GhostCollection {
  readonly #report: Report;
  /** First to last sequence of the stray slots in the bucket. */
  readonly #strays = new Map<number, number>();
  /** Sequences of the checkpoint records in the bucket, by key. */
  readonly #records = new Map<string, number>();

  constructor(report: Report) {
    this.#report = report;
  }

  addStray(first: number, last: number): void {
    this.#strays.set(first, last);
  }

  addRecord(key: string, sequence: number): void {
    this.#records.set(key, sequence);
  }

  /**
   * Slots that end below the floor may go, but for seals, while a checkpoint reaches the floor.
   * @param slot the genuine one that begins there
   */
  removeSlot(key: string, first: number, slot: GhostSlot | undefined, floor: number): void {
    const last = this.#strays.get(first) ?? slot?.last;
    const stray = this.#strays.delete(first);
    const kept = [...this.#records.values()].some((sequence) => sequence >= floor - 1);
    let problem: string | null = null;
    if (last === undefined || last >= floor) problem = `it ends at ${last}, floor ${floor}`;
    else if (!stray && slot?.seal === true) problem = 'it is the seal';
    else if (!kept) problem = `no checkpoint reaches the floor ${floor}`;
    if (problem !== null) this.#report('I16', `${key} was deleted: ${problem}`);
  }

  /** A blob may go once no retained version names it. */
  removeBlob(key: string, world: GhostWorld | null): void {
    for (const { path, version } of world?.named.get(key) ?? []) {
      const state = world?.documents.get(path)?.state;
      if (state === undefined || version < state.first) continue;
      this.#report('I16', `${key} was deleted: version ${version} of ${path} is kept`);
    }
  }

  /** Any record may go but the newest. */
  removeRecord(key: string, sequence: number): void {
    this.#records.delete(key);
    const newer = [...this.#records.values()].some((other) => other >= sequence);
    if (!newer) this.#report('I16', `${key} was deleted: it was the newest checkpoint`);
  }
}

/** Whether a record says what the log does at the end of a slot, under the name of just that. */
export function tellsTruth(
  record: OracleRecord,
  name: { readonly sequence: number; readonly epoch: number },
  slot: GhostSlot,
  marker: OracleMarker | null,
  floor: number | undefined,
): boolean {
  return (
    slot.last === name.sequence &&
    record.sequence === slot.last &&
    record.epoch === slot.epoch &&
    record.root.epoch === name.epoch &&
    record.slot === slot.hash &&
    record.time === slot.time &&
    record.documents === slot.documents &&
    record.world_id === marker?.world_id &&
    record.incarnation_id === marker.incarnation_id &&
    record.floor.at === floor
  );
}
