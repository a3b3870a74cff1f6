/**
 * The state that the genuine log makes, entry by entry, with what must hold of each. A problem is
 * reported and the entry taken as it stands, so that one mistake is told once.
 */
import {
  decodeStored,
  type OracleEntry,
  type OracleMarker,
  type OracleSlot,
  sameMetadata,
  sha256,
} from '../../oracle/objects.ts';
import { Changes } from './changes.ts';
import { Directories } from './directories.ts';
import { GhostControl } from './ghost-control.ts';
import {
  GhostDocument,
  type GhostEntry,
  type GhostState,
  type GhostVersion,
} from './ghost-document.ts';
import { blobKey, problemOf } from './keys.ts';
import { type GhostPolicy, POLICY_PATH, policyProblem, readPolicy } from './policy.ts';

/** Tells of a violation: its rule, the object and what is wrong. */
export type Report = (rule: string, detail: string) => void;

export class GhostWorld {
  readonly control: GhostControl;
  readonly documents: Map<string, GhostDocument> = new Map();
  readonly directories: Directories = new Directories();
  /** By sequence. */
  readonly entries: Map<number, GhostEntry> = new Map();
  /**
   * First entries of an operation by its ID: one, unless it was used again when the slot of the one
   * before was below the floor, where no store can know it any more.
   */
  readonly operations: Map<string, readonly GhostEntry[]> = new Map();
  readonly floors: Changes<number> = new Changes();
  /** Control entries in order. */
  readonly controls: OracleEntry[] = [];
  /** Sequences at which a document came to be. */
  readonly births: number[] = [];
  /** Versions that name a blob, by its key. */
  readonly named: Map<string, { readonly path: string; readonly version: number }[]> = new Map();
  readonly #blobs: ReadonlyMap<string, Uint8Array>;
  readonly #report: Report;
  readonly #policies = new Map<string, GhostPolicy>();

  constructor(marker: OracleMarker, blobs: ReadonlyMap<string, Uint8Array>, report: Report) {
    this.control = new GhostControl(marker);
    this.floors.add(marker.start.sequence, this.control.floor);
    this.#blobs = blobs;
    this.#report = report;
  }

  apply(slot: OracleSlot): void {
    for (const entry of slot.entries) {
      const object = `${slot.key}, entry ${entry.sequence}`;
      if (entry.kind === 'write' || entry.kind === 'archive') {
        this.#mutate(slot, entry, object);
        continue;
      }
      this.controls.push(entry);
      const problem = this.control.apply(entry);
      if (problem !== null) this.#report('control', `${object}: ${problem}`);
      if (slot.entries.length > 1) this.#report('control', `${object}: has company`);
      if (entry.kind === 'floor') this.floors.add(entry.sequence, this.control.floor);
    }
  }

  #mutate(slot: OracleSlot, entry: OracleEntry, object: string): void {
    const { path = '', sequence, op } = entry;
    this.control.mutated(sequence);
    const known = this.documents.get(path);
    const document = known ?? new GhostDocument(path);
    const before = document.state;
    if (known === undefined) {
      this.#checkTopology(path, object);
      this.births.push(sequence);
    }
    this.documents.set(path, document);
    const state =
      entry.kind === 'write'
        ? this.#write(slot, entry, document, object)
        : this.#archive(entry, before, object);
    this.#index(document, before, state, sequence);
    document.states.add(sequence, state);
    const { version, etag, archived } = state;
    const place = { op, sequence, slot: slot.first, path, group: entry.group ?? 1 };
    const kind = entry.kind === 'write' ? 'write' : 'archive';
    const noted: GhostEntry = { ...place, kind, verb: entry.verb ?? null, version, etag, archived };
    this.entries.set(sequence, noted);
    const twins = this.operations.get(op) ?? [];
    this.operations.set(op, [...twins, noted]);
    const twin = twins.at(-1);
    if (twin === undefined || twin.sequence < this.control.floor) return;
    this.#report('exactly once', `operation ${op} is at ${twin.sequence} and at ${sequence}`);
  }

  #write(
    slot: OracleSlot,
    entry: OracleEntry,
    document: GhostDocument,
    object: string,
  ): GhostState {
    const demand = (holds: boolean, problem: string): void => {
      if (!holds) this.#report('I3', `${object}: ${problem}`);
    };
    const { path, state: before } = document;
    const { version = 0, first = 0, stored_hash: etag = '' } = entry;
    demand(before?.archived !== true, `${path} is archived`);
    demand(version === (before?.version ?? 0) + 1, `version ${version} does not follow`);
    demand(before !== undefined || entry.verb !== 'append', 'appends to nothing');
    const retention = entry.catalog?.metadata?.['retention'];
    const oldest = retention === undefined ? 1 : version - Number(retention) + 1;
    const right = Math.max(before?.first ?? 1, oldest);
    demand(first === right, `first is ${first}, not ${right}`);
    const written = this.#stored(slot, entry, document, object);
    if (written !== null) {
      document.versions.set(version, written);
      const { blob } = written;
      if (blob !== null) this.named.set(blob, [...(this.named.get(blob) ?? []), { path, version }]);
    }
    this.#checkPolicy(path, entry, object);
    return { version, etag, archived: false, first };
  }

  #archive(entry: OracleEntry, before: GhostState | undefined, object: string): GhostState {
    const { version = 0, first = 0, archived = false } = entry;
    const right =
      before !== undefined &&
      before.archived !== archived &&
      before.version === version &&
      before.first === first;
    if (!right) this.#report('I3', `${object}: archives what is not there to be archived`);
    return { version, first, archived, etag: before?.etag ?? '' };
  }

  /** The written version, from the slot or from its blob, which must be there by now (I8). */
  #stored(
    slot: OracleSlot,
    entry: OracleEntry,
    document: GhostDocument,
    object: string,
  ): GhostVersion | null {
    const { sequence, at, version = 0, stored_hash: etag = '', body_hash: bodyHash = '' } = entry;
    const epoch = typeof at === 'object' ? at.epoch : null;
    if (epoch !== null && epoch !== slot.epoch) {
      this.#report('I8', `${object}: names a blob of epoch ${epoch}`);
    }
    const blob = epoch === null ? null : blobKey(epoch, etag);
    const bytes = blob === null ? slot.inlined.get(sequence) : this.#blobs.get(blob);
    if (bytes === undefined) {
      this.#report('I8', `${object}: its stored version is in no object`);
      return null;
    }
    const problem = (text: string): void => this.#report('I8', `${object}: ${text}`);
    if (blob === null && sha256(bytes) !== etag) problem('stored bytes have another hash');
    try {
      const stored = decodeStored(object, bytes);
      const metadata = entry.catalog?.metadata ?? null;
      const previous = document.versions.get(version - 1)?.etag ?? null;
      if (sha256(stored.body) !== bodyHash) problem('body has another hash');
      if (stored.version !== version) problem(`stored bytes are of version ${stored.version}`);
      if (stored.previousHash !== previous) problem('previous-hash is not the version before');
      if (!sameMetadata(stored.metadata, metadata)) problem('metadata are not the entry’s');
      const { title = '' } = entry.catalog ?? {};
      const said = { modified: entry.modified ?? 0, title, metadata };
      return { version, sequence, etag, bodyHash, body: stored.body, ...said, blob };
    } catch (error) {
      problem(problemOf(error));
      return null;
    }
  }

  #index(
    document: GhostDocument,
    before: GhostState | undefined,
    after: GhostState,
    sequence: number,
  ): void {
    const { path, versions } = document;
    const was = before !== undefined && !before.archived;
    const is = !after.archived;
    const live = Number(is) - Number(was);
    if (before === undefined || live !== 0) {
      this.directories.count(path, sequence, before === undefined, live);
    }
    const from = was ? (versions.get(before.version)?.bodyHash ?? null) : null;
    const to = is ? (versions.get(after.version)?.bodyHash ?? null) : null;
    this.directories.move(path, sequence, from, to);
  }

  /** A document is never an ancestor of another, archived or not. */
  #checkTopology(path: string, object: string): void {
    if (this.directories.since(path) < Number.POSITIVE_INFINITY) {
      this.#report('I3', `${object}: documents lie under ${path}`);
    }
    for (let at = path.indexOf('/', 1); at > 0; at = path.indexOf('/', at + 1)) {
      const above = path.slice(0, at);
      if (this.documents.has(above)) this.#report('I3', `${object}: lies under ${above}`);
    }
  }

  /** A write obeys the policy in force just before it; the policy's own writes are exempt. */
  #checkPolicy(path: string, entry: OracleEntry, object: string): void {
    const document = this.documents.get(POLICY_PATH);
    const state = document?.state;
    if (path === POLICY_PATH || state === undefined || state.archived) return;
    const body = document?.versions.get(state.version)?.body;
    if (body === undefined) return;
    const policy = this.#policies.get(state.etag) ?? readPolicy(body);
    this.#policies.set(state.etag, policy);
    const problem = policyProblem(policy, path, entry.catalog?.metadata ?? null);
    if (problem !== null) this.#report('policy', `${object}: ${path}: ${problem}`);
  }
}
