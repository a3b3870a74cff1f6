/**
 * Members that are built ahead of the slot that is being created: each judged on the state that the
 * tip, the batch under way and the members before it make (I5). Which of them go into the next slot
 * is decided when its name is free, so nobody waits behind a closed batch.
 *
 * A member that fails gets its own error and fails no other; a group is taken or refused as a
 * whole. What was judged on an older tip is kept when nothing that it asked of the state has
 * changed.
 */
import { InvariantError } from '../base/assert.ts';
import { StoreError } from '../base/errors.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { applyEntry } from '../snapshot/apply.ts';
import type { BodySource } from '../snapshot/body-reader.ts';
import { SnapshotDraft } from '../snapshot/draft.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { assertFits, type Verdict } from './batch.ts';
import { MutationBuilder, type MutationSettings } from './build-mutation.ts';
import { type Built, inlinedOf, placeChanges, storedOf, textsOf } from './built.ts';
import { type Carried, carriedOver, NOTHING_CARRIED } from './carried.ts';
import { type Change, resultsOf } from './change.ts';
import { judgeMember, stands } from './judge-member.ts';
import type { Member } from './member.ts';
import type { OperationPlace, Operations } from './operations.ts';
import type { PolicyGate } from './policy-gate.ts';
import { sealedError } from './sealed.ts';
import type { Stager, Staging } from './stager.ts';
import type { Verdicts } from './verdicts.ts';

export interface AheadParts {
  readonly bodies: BodySource;
  readonly operations: Operations;
  readonly policy: PolicyGate;
  readonly stager: Stager;
  readonly settings: MutationSettings & { readonly inlineBytes: number };
  /** The state of now. */
  readonly served: () => Snapshot;
  /** Wall clock, ms. */
  readonly now: () => number;
}

/**
 * `added`: built, or refused with its answer to come. `waits`: an operation of it is one of a group
 * that is ahead. Or the place in the log that its operation has already.
 */
export type Added = 'added' | 'waits' | OperationPlace;

/**
 * Bytes of stored versions that may be ahead before no more is built, one member over it (I17): an
 * append of a few bytes makes a version of a whole document, so the queue's bound is not enough.
 */
const AHEAD_BYTES_MAX: number = 64 * 1024 * 1024;

/** A state is kept behind every so many members, so that a cut costs no more than that. */
const KEPT_EVERY = 64;

export class Ahead {
  readonly #parts: AheadParts;
  readonly #verdicts: Verdicts;
  readonly #mutations: MutationBuilder;
  readonly #ops = new Set<string>();
  /** Behind everything that is built. */
  #draft: SnapshotDraft;
  #next: Sequence;
  #built: Built[] = [];
  #bytes = 0;
  #carried: Carried = NOTHING_CARRIED;

  /** @param verdicts of members that wait, on older tips */
  constructor(parts: AheadParts, base: Snapshot, verdicts: Verdicts) {
    this.#parts = parts;
    this.#verdicts = verdicts;
    this.#draft = new SnapshotDraft(base);
    this.#next = sequence(base.tip.sequence + 1);
    const { settings, policy, bodies, served, now } = parts;
    this.#mutations = new MutationBuilder(settings, policy, bodies, served, now);
  }

  /** What is built and not cut off, in order. */
  get built(): readonly Built[] {
    return this.#built;
  }

  /** The sequence that the next member's first entry will have. */
  get next(): Sequence {
    return this.#next;
  }

  /** Bytes of the stored versions that are built and not cut off (I17). */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether no more may be built: so many members, or as many bytes as may be ahead. */
  isFull(members: number, bytes: number = AHEAD_BYTES_MAX): boolean {
    return this.#built.length >= members || this.#bytes >= bytes;
  }

  /** The state behind everything that is built; not to be changed. */
  get end(): Snapshot {
    return this.#draft;
  }

  /** How members were carried over since the last question. */
  takeCarried(): Carried {
    const carried = this.#carried;
    this.#carried = NOTHING_CARRIED;
    return carried;
  }

  /** Builds a member behind the others. */
  async add(member: Member): Promise<Added> {
    const place = this.#parts.operations.find(member.op);
    if (place !== undefined) return place;
    if (this.#ops.has(member.op)) return 'waits';
    const verdict = this.#kept(member) ?? (await this.#judge(member));
    return this.#take(member, verdict);
  }

  /** Cuts off the first `count` members: they are the batch that is under way now. */
  cut(count: number): readonly Built[] {
    const batch = this.#built.splice(0, count);
    for (const { storedBytes } of batch) this.#bytes -= storedBytes;
    return batch;
  }

  /** What was cut off is committed: the rest follows the state that it made. */
  committed(batch: readonly Built[], state: Snapshot): void {
    const next = this.#built[0]?.first ?? this.#next;
    // Another's slot may have entered the state since: what is built is judged anew then.
    const isNext = next === state.tip.sequence + 1;
    if (isNext && state.base !== this.#draft.base) this.#buildOn(state);
    else this.#draft.follow(state);
    this.#forget(batch);
  }

  /** The same once more, on the checkpoint that the store rests on now: it would be held else. */
  #buildOn(state: Snapshot): void {
    const draft = new SnapshotDraft(state);
    this.#built = this.#built.map((built) => {
      for (const [index, { entry }] of built.changes.entries()) {
        const problem = applyEntry(draft, entry, sequence(built.first + index));
        if (problem !== null) throw new InvariantError(`built, and does not apply: ${problem}`);
      }
      return built.state === null ? built : { ...built, state: draft.freeze() };
    });
    this.#draft = draft;
  }

  #forget(batch: readonly Built[]): void {
    for (const { judged, changes } of batch) {
      for (const { entry } of changes) this.#ops.delete(entry.op);
      if (judged.kind !== 'taken' || judged.verdict.kind !== 'allowed') continue;
      for (const one of judged.verdict.mutations) this.#mutations.drop(one);
    }
  }

  /** What was judged of a member on an older tip, when it stands. */
  #kept(member: Member): Verdict | undefined {
    const earlier = this.#verdicts.get(member);
    // Behind a seal every request is answered with it, whatever was judged before.
    if (earlier === undefined || this.#draft.control.seal !== null) return undefined;
    const keeps = stands(earlier, this.#draft, this.#next);
    this.#carried = carriedOver(this.#carried, member, keeps);
    return keeps ? earlier : undefined;
  }

  #judge(member: Member): Verdict | Promise<Verdict> {
    const { seal } = this.#draft.control;
    if (seal !== null) return { kind: 'refused', error: sealedError(seal), inquiry: null };
    return judgeMember(this.#mutations, this.#draft, member, this.#next);
  }

  #take(member: Member, verdict: Verdict): Added {
    if (verdict.kind === 'refused') return this.#refuse(member, verdict);
    const { settings } = this.#parts;
    const { epoch } = this.#draft.control;
    const changes = placeChanges(member, verdict, epoch, settings.inlineBytes);
    try {
      if (this.#collides(changes)) return 'waits';
      const texts = textsOf(changes);
      assertFits(texts);
      this.#apply(changes);
      this.#push(member, verdict, changes, texts);
      return 'added';
    } catch (error) {
      if (error instanceof InvariantError) throw error;
      return this.#refuse(member, { kind: 'refused', error, inquiry: null });
    }
  }

  #refuse(member: Member, verdict: Verdict & { readonly kind: 'refused' }): Added {
    const judged = { member, kind: 'refused', error: verdict.error, verdict } as const;
    const none = {
      changes: [],
      texts: [],
      inlinedBytes: 0,
      storedBytes: 0,
      stagings: [],
      state: null,
    };
    this.#built.push({ ...none, member, judged, first: this.#next });
    return 'added';
  }

  #push(
    member: Member,
    verdict: Verdict & { readonly kind: 'allowed' },
    changes: readonly Change[],
    texts: readonly string[],
  ): void {
    const first = this.#next;
    const results = resultsOf(member, verdict.mutations, first);
    const commits = changes.length > 0;
    for (const one of verdict.mutations) this.#mutations.keep(one);
    for (const { entry } of changes) this.#ops.add(entry.op);
    this.#next = sequence(first + changes.length);
    const storedBytes = storedOf(changes);
    this.#bytes += storedBytes;
    const keeps = this.#built.length % KEPT_EVERY === KEPT_EVERY - 1;
    this.#built.push({
      member,
      judged: { member, kind: 'taken', commits, results, verdict },
      changes,
      texts,
      inlinedBytes: inlinedOf(changes),
      storedBytes,
      first,
      stagings: this.#stage(member, changes),
      state: keeps ? this.#draft.freeze() : null,
    });
  }

  #stage(member: Member, changes: readonly Change[]): readonly Staging[] {
    const { epoch } = this.#draft.control;
    const stagings: Staging[] = [];
    for (const { entry, stored, inlined } of changes) {
      if (inlined || stored === null || entry.kind !== 'write') continue;
      stagings.push(this.#parts.stager.start(member, epoch, entry.storedHash, stored));
    }
    return stagings;
  }

  /**
   * A group's operations are made from its own, so another request may have one of them.
   * @returns whether one is ahead
   * @throws StoreError `REJECTED` when one is in the log
   */
  #collides(changes: readonly Change[]): boolean {
    for (const { entry } of changes) {
      if (this.#ops.has(entry.op)) return true;
      if (this.#parts.operations.find(entry.op) !== undefined) {
        throw new StoreError('REJECTED', `operation ${entry.op} is in the log already`);
      }
    }
    return false;
  }

  /** @throws StoreError `REJECTED` when no replay would take an entry; none is applied then */
  #apply(changes: readonly Change[]): void {
    // Keeping a state makes the next change copy its nodes, so it is done only where it can be
    // needed: a refused entry leaves the draft as it was, but a group has others before it.
    const before = changes.length > 1 ? this.#draft.freeze() : null;
    for (const [index, { entry }] of changes.entries()) {
      const problem = applyEntry(this.#draft, entry, sequence(this.#next + index));
      if (problem === null) continue;
      if (before !== null) this.#draft = new SnapshotDraft(before);
      throw new StoreError('REJECTED', problem);
    }
  }
}
