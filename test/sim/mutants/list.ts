/**
 * The mutants that the simulation's oracle must catch, and the one that proves the loading.
 * `plugin.test.ts` holds that each edit fits the source as it is.
 */
import { BROKEN_CHECKPOINTS } from './checkpoint-list.ts';
import type { Mutant } from './mutate.ts';
import { SMALL_SIZES } from './small-sizes.ts';

const APPEND = 'bucketstore/log/append.ts';
const BUILD_MUTATION = 'bucketstore/commit/build-mutation.ts';
const CLOSE = 'bucketstore/commit/close.ts';
const COMMITTER = 'bucketstore/commit/committer.ts';
const COMMIT_LOOP = 'bucketstore/commit/commit-loop.ts';
const FOLLOWER = 'bucketstore/snapshot/follower.ts';
const JUDGE_MEMBER = 'bucketstore/commit/judge-member.ts';
const QUEUE = 'bucketstore/commit/queue.ts';
const SIGHTING = 'bucketstore/log/sighting.ts';
const SIGHTINGS = 'bucketstore/log/sightings.ts';
const SLOT_WRITER = 'bucketstore/commit/slot-writer.ts';

/** A name that was lost without its bytes being known: the winner cannot be entered. */
const LOST_UNREAD = {
  file: SLOT_WRITER,
  find: 'follower.enter({ ...decodeSlot(slotKey(first), bytes), size: bytes.byteLength });',
  replace: `if (bytes.byteLength > 0) {
      follower.enter({ ...decodeSlot(slotKey(first), bytes), size: bytes.byteLength });
    }`,
};

const BELIEVED = `const believed = (date: number | undefined): Promise<boolean> => {
      return believe(parts, tip, slot.held, date, { ...options, ...calls });
    };`;

/** One for every safety rule. */
const BROKEN: readonly Mutant[] = [
  {
    name: 'acknowledge-before-confirm',
    rule: 'a mutation is acknowledged only after its slot is known to be in the log (I6)',
    edits: [
      {
        file: COMMIT_LOOP,
        find: 'const writing = this.#write(batch);',
        replace: 'answerAll(batch.judged); const writing = this.#write(batch);',
      },
    ],
  },
  {
    name: 'exists-is-lost',
    hint: 9,
    rule: '"exists" is not "lost": the name is read and its bytes are compared',
    edits: [
      {
        file: APPEND,
        find: 'else if (!equal(found.bytes, slot.bytes)) {',
        replace: `else if (
        created.words.startsWith('was refused') ||
        !equal(found.bytes, slot.bytes)
      ) {`,
      },
    ],
  },
  {
    name: 'conflict-is-lost',
    hint: 38,
    rule: '409 says nothing of who has the name',
    edits: [
      {
        file: APPEND,
        find: 'if (!error.ambiguous) return',
        replace: `if (error.ambiguous) return { kind: 'unclear', words: error.message };
    if (!error.ambiguous) return`,
      },
      {
        file: APPEND,
        find: 'open = true;',
        replace: `open = true;
    const lost = { outcome: 'lost', bytes: new Uint8Array(), createMs: null } as const;
    if (created.words.includes('409')) return lost;`,
      },
      LOST_UNREAD,
    ],
  },
  {
    name: 'other-bytes',
    hint: 52,
    rule: 'no other bytes for a name while an attempt of our own on it is unresolved',
    edits: [
      {
        file: APPEND,
        find: "if (found.kind === 'absent') sightings.note(tip, readAt, found.date);",
        replace: `const bytes = new Uint8Array();
      if (found.kind === 'absent') return { outcome: 'lost', bytes, createMs: null };`,
      },
      LOST_UNREAD,
    ],
  },
  {
    name: 'keep-changed',
    hint: 7,
    rule: 'a member is kept only when nothing that it asked of the state has changed',
    edits: [
      {
        file: JUDGE_MEMBER,
        find: 'return inquiry.holds(trial ?? state) && applyTrial(',
        replace: 'return applyTrial(',
      },
    ],
  },
  {
    name: 'no-sightings',
    rule: 'the rule of sightings',
    edits: [
      {
        file: SIGHTINGS,
        find: 'if (held !== null && held.tip <= tip && this.#isFresh(this.#latest(held), date))',
        replace: 'if (held === held)',
      },
      {
        file: SIGHTINGS,
        find: 'return newest?.tip === tip && isFresh(newest, this.moment()) ? newest : null;',
        replace: 'return newest?.tip === tip ? newest : null;',
      },
    ],
  },
  {
    name: 'success-only',
    hint: 9,
    rule: 'no answer about a name is believed on an old sighting: missing, lost and absent neither',
    edits: [
      {
        file: APPEND,
        find: "if (!(await believed(found.date))) return { outcome: 'fenced' };",
        replace: `const ours = found.kind === 'bytes' && equal(found.bytes, slot.bytes);
      if (ours && !(await believed(found.date))) return { outcome: 'fenced' };`,
      },
    ],
  },
  {
    name: 'no-service-date',
    hint: 40,
    rule: 'the service’s Date is one of the clocks',
    edits: [
      {
        file: SIGHTING,
        find: '[...local, to.date - from.date]',
        replace: 'local',
      },
    ],
  },
  {
    name: 'list-before-answer',
    hint: 9,
    rule: 'the list of checkpoints is made after the answer that it decides on',
    edits: [
      {
        file: APPEND,
        find: BELIEVED,
        replace: `const both = { ...options, ...calls };
    const early = await believe(parts, tip, null as never, undefined, both);
    const believed = async (_: number | undefined): Promise<boolean> => early;`,
      },
    ],
  },
  {
    name: 'age-when-sent',
    hint: 9,
    rule: 'the age of a sighting is judged when the answer arrives',
    edits: [
      {
        file: APPEND,
        find: BELIEVED,
        replace: `const fresh = sightings.freshOf(tip) !== null;
    const believed = async (date: number | undefined): Promise<boolean> => {
      return fresh || believe(parts, tip, slot.held, date, { ...options, ...calls });
    };`,
      },
    ],
  },
  {
    name: 'fence-rebases',
    hint: 62,
    rule: 'after a trip of the fence members are told unknown, and nothing is carried over',
    edits: [
      {
        file: SLOT_WRITER,
        find: `for (const request of requests) request.giveUp(SLEPT);
        return { outcome: 'fenced' };`,
        replace: `for (const request of requests) request.settled();
        await this.#parts.follower.reload();
        return { outcome: 'lost' };`,
      },
    ],
  },
  {
    name: 'expired-carried',
    rule: 'a member that was told unknown is never carried to another name',
    edits: [
      {
        file: COMMIT_LOOP,
        find: `this.#underWay = [];
    this.#queue.rewind();
    this.#ahead = this.#newAhead();`,
        replace: `const under = this.#underWay;
    this.#underWay = [];
    this.#queue.rewind();
    this.#ahead = this.#newAhead();
    for (const { member } of under) if (member.isAnswered) void this.#ahead.add(member);`,
      },
      {
        file: CLOSE,
        find: 'if (member.isAnswered && changes.length > 0) break;',
        replace: '',
      },
      {
        file: SLOT_WRITER,
        find: "if (requests.some(({ isAnswered }) => isAnswered)) return { outcome: 'left' };",
        replace: '',
      },
    ],
  },
  {
    name: 'early-create',
    rule: 'a slot is never created before its predecessor is confirmed (I7)',
    edits: [
      {
        file: SLOT_WRITER,
        find: 'const result = await this.#append(requests, encoded, held);',
        replace: `this.#install(candidate, encoded, 0);
    sightings.note(encoded.slot.last, sightings.moment(), undefined);
    if (requests.length > 0) {
      void this.#append(requests, encoded, held).catch(() => undefined);
      return { outcome: 'won', createMs: null };
    }
    const result = await this.#append(requests, encoded, held);`,
      },
    ],
  },
  {
    name: 'keep-over-policy',
    hint: 11,
    rule: 'a kept member has asked for the policy and for the ancestors of its path too',
    edits: [
      {
        file: BUILD_MUTATION,
        find: 'if (path !== POLICY_PATH) inquiry.ask(state,',
        replace: 'if (path === POLICY_PATH) inquiry.ask(state,',
      },
    ],
  },
  {
    name: 'group-split',
    rule: 'a group is kept, rebuilt or refused as a whole',
    edits: [
      {
        file: JUDGE_MEMBER,
        find: "return { kind: 'refused', error, inquiry: lasts ? inquiry : null };",
        replace: `if (judged.some(({ entry }) => entry !== null)) break;
      return { kind: 'refused', error, inquiry: lasts ? inquiry : null };`,
      },
    ],
  },
  {
    name: 'survives-failure',
    rule: 'what was built on a batch does not survive its failure',
    edits: [
      {
        file: COMMIT_LOOP,
        find: `this.#queue.rewind();
    this.#ahead = this.#newAhead();`,
        replace: `this.#queue.rewind();
    const [first] = this.#ahead.built;
    const behind = first !== undefined && first.first > this.#parts.follower.snapshot.tip.sequence;
    if (!behind || first.member.isAnswered) this.#ahead = this.#newAhead();
    else for (const { member } of this.#ahead.built) this.#queue.take(member);`,
      },
      {
        file: CLOSE,
        find: "if (first.first !== base.tip.sequence + 1) return { kind: 'stale' };",
        replace: `const by = first.first - base.tip.sequence - 1;
  if (by < 0) return { kind: 'stale' };
  for (const one of ahead.built) (one as { first: number }).first -= by;`,
      },
    ],
  },
  {
    name: 'overloaded-after-taking',
    rule: 'who is told "overloaded" was not taken',
    edits: [
      {
        file: QUEUE,
        find: '    this.assertRoom(request.bytes);',
        replace: `    try { this.assertRoom(request.bytes); } catch (error) {
      this.#queued.add(request);
      this.#byOp.set(request.op, request);
      throw error;
    }`,
      },
      {
        file: COMMITTER,
        find: '    this.#queue.assertRoom(bytesOf(mutations));',
        replace: '    bytesOf(mutations);',
      },
      {
        file: COMMITTER,
        find: 'this.#queue.find(op) === undefined) this.#queue.assertRoom(0);',
        replace: 'this.#queue.find(op) === undefined) return;',
      },
      {
        file: COMMITTER,
        find: 'request.fail(error);',
        replace: 'this.#loop.wake(); throw error;',
      },
    ],
  },
  {
    name: 'confirmed-after-probe',
    hint: 13,
    rule: 'a confirmation is dated at the beginning of its probe (I14)',
    edits: [
      {
        file: FOLLOWER,
        find: 'this.#confirmed = laterMoment(this.#confirmed, began);',
        replace: 'this.#confirmed = this.#parts.sightings.moment();',
      },
    ],
  },
  {
    name: 'install-older',
    hint: 778,
    rule: 'a state is never installed over a newer one',
    edits: [
      {
        file: FOLLOWER,
        find: 'if (snapshot.tip.sequence <= this.#snapshot.tip.sequence) return;',
        replace: '',
      },
      {
        file: FOLLOWER,
        find: 'if (snapshot.tip.sequence <= served) return;',
        replace: '',
      },
    ],
  },
];

/** One for every safety rule, each with the sizes that the simulation runs with. */
export const MUTANTS: readonly Mutant[] = [...BROKEN, ...BROKEN_CHECKPOINTS].map((mutant) => {
  return { ...mutant, edits: [...SMALL_SIZES.edits, ...mutant.edits] };
});

/** For the test of the plugin alone: its effect shows in one call. */
export const PROOF: Mutant = {
  name: 'reversed-order',
  rule: 'every order is by UTF-8 bytes, ascending',
  edits: [
    {
      file: 'bucketstore/base/order.ts',
      find: 'return codePointRank(x) - codePointRank(y);',
      replace: 'return codePointRank(y) - codePointRank(x);',
    },
    {
      file: 'bucketstore/base/order.ts',
      find: 'return a < b ? -1 : 1;',
      replace: 'return a < b ? 1 : -1;',
    },
  ],
};

/** All that can be loaded. */
export const LOADED: readonly Mutant[] = [SMALL_SIZES, ...MUTANTS, PROOF];
