/**
 * A state put onto a newer checkpoint: what it says stays, what it holds in memory shrinks. Pure.
 */
import { integrityError } from '../base/errors.ts';
import type { Sequence } from '../base/sequence.ts';
import type { BaseState } from './base.ts';
import { OrderedMap } from './ordered-map.ts';
import type { ChangedDocument, SnapshotMaps, SnapshotParts } from './snapshot.ts';
import type { DocumentHead, VersionRecord } from './state.ts';
import { versionKey } from './version-key.ts';

/** Documents, versions and slots that are looked at in one step: some 2 ms of work. */
export const REBASE_STEP = 256;

/** Whoever is asked whether a step has done enough. */
class Steps {
  #done = 0;

  /** Notes one more. @returns whether it is the last of a step */
  ends(): boolean {
    this.#done = (this.#done + 1) % REBASE_STEP;
    return this.#done === 0;
  }
}

/**
 * The same state over another base: only what has changed since that is left of its maps. A look
 * into the base for each document that they hold; a pause after each `REBASE_STEP` that are looked
 * at.
 * @param parts which nobody changes meanwhile
 * @param at the sequence of the base, not beyond the state's
 * @param packedThrough slots that end at or before it are let go
 * @throws StoreError `INTEGRITY` naming a document that the base has otherwise than this state had
 *   it then, as far as that is known here: such a checkpoint must not be used
 */
export function* rebaseSteps(
  parts: SnapshotParts,
  base: BaseState,
  at: Sequence,
  packedThrough: Sequence,
): Generator<undefined, SnapshotParts> {
  const maps: SnapshotMaps = {
    documents: OrderedMap.byText(),
    bodies: OrderedMap.byText(),
    versions: OrderedMap.byText(),
    slots: OrderedMap.byNumber(),
  };
  const steps = new Steps();
  let created = 0;
  for (const [path, document] of parts.maps.documents.from()) {
    if (steps.ends()) yield;
    const known = base.head(path);
    const problem = problemOf(known, document, at);
    if (problem !== null) throw integrityError(path, `the checkpoint at ${at} ${problem}`);
    if (document.at <= at) continue;
    maps.documents.set(path, document);
    if (!document.archived) maps.bodies.set(`${document.bodyHash}\0${path}`, undefined);
    if (known === undefined) created += 1;
    for (const [key, record] of versionsBehind(parts.maps, path, known?.version ?? 0)) {
      if (steps.ends()) yield;
      maps.versions.set(key, record);
    }
  }
  const before = parts.base.documents + parts.created;
  if (base.documents + created !== before) {
    const documents = `${base.documents} and ${created} since, this state has ${before}`;
    throw integrityError('/', `the checkpoint at ${at} has other documents: ${documents}`);
  }
  for (const [first, slot] of parts.maps.slots.from()) {
    if (steps.ends()) yield;
    if (slot.last > packedThrough) maps.slots.set(first, slot);
  }
  return { ...parts, base, created, maps };
}

/** The versions of a document that its checkpoint does not have. */
function* versionsBehind(
  { versions }: SnapshotMaps,
  path: string,
  known: number,
): Generator<readonly [string, VersionRecord]> {
  const prefix = `${path}\0`;
  for (const entry of versions.from(versionKey(path, known + 1))) {
    if (!entry[0].startsWith(prefix)) return;
    yield entry;
  }
}

/** What a checkpoint has otherwise than a state that saw it made, or null. */
function problemOf(
  known: DocumentHead | undefined,
  document: ChangedDocument,
  at: Sequence,
): string | null {
  const { version, first, archived, storedHash } = document;
  if (document.at > at) {
    // Without details, only its place in listings has changed since.
    const isSame = document.details !== null || known?.version === version;
    const isBehind = (known?.version ?? 0) <= version && (known?.first ?? 0) <= first;
    return isSame && isBehind ? null : `has version ${known?.version}, this state ${version}`;
  }
  if (known === undefined) return 'does not have it';
  const isSame =
    known.version === version &&
    known.first === first &&
    known.archived === archived &&
    known.storedHash === storedHash;
  return isSame ? null : `has version ${known.version} of it otherwise`;
}
