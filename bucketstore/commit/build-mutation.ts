/**
 * One mutation to one entry: reads what judging it needs, runs the conditions set on it, and notes
 * what all of that asked of the state.
 */

import { abortable } from '../base/abortable.ts';
import { assertNever } from '../base/assert.ts';
import { POLICY_PATH } from '../document/policy.ts';
import type { MutationEntry } from '../log/records.ts';
import type { BodySource } from '../snapshot/body-reader.ts';
import { type DocumentInfo, documentOf, infoOf, type StateReader } from '../snapshot/reader.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { DocumentState } from '../snapshot/state.ts';
import { AskingReader } from './asking-reader.ts';
import type { Inquiry } from './inquiry.ts';
import {
  admitWrite,
  judgeArchive,
  needsDetails,
  type PreparedEntry,
  prepareWrite,
  type Quota,
  writtenBody,
} from './judge.ts';
import type { Member } from './member.ts';
import type { Mutation, Precondition } from './mutation.ts';
import { PendingBodies } from './pending-bodies.ts';
import type { PolicyGate } from './policy-gate.ts';
import type { MutationResult } from './result.ts';

export interface MutationSettings {
  /** Documents this store may hold, archived ones included. */
  readonly quota: Quota;
  /** Refuse every write while the world has no valid policy. */
  readonly requirePolicy: boolean;
}

export interface BuiltMutation {
  /** null when there is nothing to commit. Where its bytes lie is not decided yet. */
  readonly entry: MutationEntry | null;
  readonly stored: Uint8Array | null;
  /** What its request is answered with once it is known to hold, but for the sequence. */
  readonly result: MutationResult;
}

/** The request whose mutation it is: work for it ends when it has been answered. */
type Waiting = Pick<Member, 'answered'>;

type WriteMutation = Extract<Mutation, { readonly content: Uint8Array }>;
type ArchiveMutation = Extract<Mutation, { readonly archived: boolean }>;

const NO_BYTES = new Uint8Array();

/** Builds the mutations of one batch. */
export class MutationBuilder {
  readonly #settings: MutationSettings;
  readonly #pending: PendingBodies;
  readonly #policy: PolicyGate;
  readonly #now: () => number;

  constructor(
    settings: MutationSettings,
    policy: PolicyGate,
    bodies: BodySource,
    served: () => Snapshot,
    now: () => number,
  ) {
    this.#settings = settings;
    this.#pending = new PendingBodies(bodies, served);
    this.#policy = policy;
    this.#now = now;
  }

  /**
   * @param state the tip and the members before, which it does not change
   * @param inquiry is told what was asked of the state, also when the request is refused
   * @throws whatever refuses the request: a `StoreError`, or what its precondition threw
   */
  build(
    state: Snapshot,
    mutation: Mutation,
    inquiry: Inquiry,
    request: Waiting,
  ): Promise<BuiltMutation> {
    inquiry.ask(state, { about: 'document', path: mutation.path });
    switch (mutation.kind) {
      case 'publish':
      case 'append':
        return this.#write(state, mutation, inquiry, request);
      case 'archive':
        return this.#archive(state, mutation, inquiry, request);
      default:
        return assertNever(mutation);
    }
  }

  /** Takes a built mutation into the batches ahead: members behind it may read its body. */
  keep({ entry, stored }: BuiltMutation): void {
    if (entry?.kind === 'write' && stored !== null) this.#pending.add(entry.storedHash, stored);
  }

  /** A kept mutation is committed. */
  drop({ entry, stored }: BuiltMutation): void {
    if (entry?.kind === 'write' && stored !== null) this.#pending.drop(entry.storedHash);
  }

  async #write(
    state: Snapshot,
    mutation: WriteMutation,
    inquiry: Inquiry,
    request: Waiting,
  ): Promise<BuiltMutation> {
    const { op, path } = mutation;
    const { quota } = this.#settings;
    const head = state.head(path);
    if (mutation.kind === 'publish' && head === undefined) {
      inquiry.ask(state, { about: 'topology', path });
      if (quota !== undefined) inquiry.ask(state, { about: 'room', documentsMax: quota });
    }
    admitWrite(state, head, mutation, quota);
    const reader = (): StateReader => this.#reader(state, inquiry);
    let oldBody: Uint8Array = NO_BYTES;
    if (mutation.kind === 'append') {
      const reads = { signal: request.answered, lane: 'commit' } as const;
      oldBody = (await reader().get(path, reads)).body;
      reads.signal.throwIfAborted();
    }
    const written = writtenBody(mutation, oldBody);
    const now = Math.floor(this.#now() / 1000);
    const isAsked = head !== undefined && needsDetails(mutation, head, written);
    const document = isAsked ? await knownDocument(state, path, request) : undefined;
    const old = document?.catalog.metadata ?? null;
    const prepared = prepareWrite(head, old, mutation, written, now);
    if (prepared === null && document !== undefined) {
      return unchanged(op, document, mutation.content);
    }
    if (prepared === null) throw new TypeError('a new document cannot be unmodified');
    if (path !== POLICY_PATH) inquiry.ask(state, { about: 'document', path: POLICY_PATH });
    const admitting = this.#policy.admit(state, reader, prepared);
    if (admitting !== undefined) await abortable(admitting, request.answered);
    await askCaller(mutation, reader, prepared, request);
    const { entry, stored, body, metadata, pruned } = prepared;
    const made = documentOf(entry.path, entry, false, metadata, body);
    const result = { committed: true, op, sequence: null, document: made, pruned };
    return { entry, stored, result };
  }

  async #archive(
    state: Snapshot,
    mutation: ArchiveMutation,
    inquiry: Inquiry,
    request: Waiting,
  ): Promise<BuiltMutation> {
    const { op, path, archived, precondition } = mutation;
    const document = await knownDocument(state, path, request);
    const entry = judgeArchive(document, mutation);
    const info = currentInfo(document, path);
    if (entry === null) {
      const result = { committed: false, op, sequence: null, document: info };
      return { entry, stored: null, result };
    }
    this.#policy.admitArchive(path, archived);
    await ask(precondition, this.#reader(state, inquiry), { path, archived }, request);
    const result = { committed: true, op, sequence: null, document: { ...info, archived } };
    return { entry, stored: null, result };
  }

  /** Lends the state as it is now; the batch goes on to change its own copy. */
  #reader(state: Snapshot, inquiry: Inquiry): StateReader {
    return new AskingReader(state.freeze(), this.#pending, inquiry);
  }
}

/**
 * All that a state knows of a document, read from a checkpoint for no longer than the request
 * waits.
 */
async function knownDocument(
  state: Snapshot,
  path: string,
  request: Waiting,
): Promise<DocumentState | undefined> {
  const document = state.document(path, { lane: 'commit' });
  return document instanceof Promise ? abortable(document, request.answered) : document;
}

async function askCaller(
  { precondition, path }: WriteMutation,
  reader: () => StateReader,
  prepared: PreparedEntry,
  request: Waiting,
): Promise<void> {
  if (precondition === undefined) return;
  // A copy: the precondition is the caller's code, and the bytes are about to be committed.
  const body = new Uint8Array(prepared.body);
  await ask(precondition, reader(), { path, body, metadata: prepared.metadata }, request);
}

/**
 * Runs a caller's condition no longer than its own request waits: one that never ends must not hold
 * up the requests behind it.
 */
async function ask<Prepared>(
  precondition: Precondition<Prepared> | undefined,
  reader: StateReader,
  prepared: Prepared,
  request: Waiting,
): Promise<void> {
  if (precondition === undefined) return;
  await abortable(Promise.resolve(precondition(reader, prepared)), request.answered);
}

function currentInfo(document: DocumentState | undefined, path: string): DocumentInfo {
  if (document === undefined) throw new TypeError(`${path} was judged, and is not there`);
  const { current, archived, catalog } = document;
  return infoOf(path, current, archived, catalog.metadata);
}

function unchanged(op: string, document: DocumentState, body: Uint8Array): BuiltMutation {
  const { path, current, catalog } = document;
  const made = documentOf(path, current, false, catalog.metadata, body);
  const result = { committed: false, op, sequence: null, document: made, pruned: null };
  return { entry: null, stored: null, result };
}
