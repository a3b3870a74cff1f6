/**
 * Goal: a group that is in the log as a whole passes, whatever of it changed nothing; one that is
 * there in part is told of, whether its answer tells of all of it, of that part or of nothing.
 * Method: a small log made by hand, a group behind it, and answers to that.
 */
import { describe, expect, test } from 'vitest';
import { uuidOf } from '../log/values.ts';
import { type ForgedChange, ForgedWorld } from './forged-world.ts';
import type { Call, CalledMutation, TakenMutation, WriteOutcome } from './history.ts';
import type { GhostWorld } from './oracle/ghost-state.ts';
import { ARCHIVE, call, OPS, put, refused, rulesOf, took, unknown } from './told-example.ts';

const [A, B, C, D] = OPS;
const GROUP = uuidOf(20);

const KEEP_A = put('/a.md', 'one', { expected: 1 });
const KEEP_B = put('/b.md', 'two', { metadata: { tags: 'x,y' } });
const KEEP_C = put('/c.md', '', ARCHIVE);
const NEW = put('/new.md', 'new', { expected: 'absent' });
const MORE = put('/a.md', 'more', { kind: 'append', expected: 1 });

const NEWS: ForgedChange = { path: '/new.md', text: 'new' };
const GROWN: ForgedChange = {
  path: '/a.md',
  text: 'one\nmore',
  verb: 'append',
  metadata: { type: 'Document' },
};

/** A log of /a.md (2), /b.md (3) and an archived /c.md (4, 5), which land by 16. */
class Base {
  readonly world: ForgedWorld = new ForgedWorld();
  readonly calls: Call[] = [];
  /** What was last told of each. */
  readonly told = new Map<string, TakenMutation>();

  constructor() {
    const [b, c] = [KEEP_B, put('/c.md', 'three')];
    this.#write(A, 10, put('/a.md', 'one'), { path: '/a.md', text: 'one' });
    this.#write(B, 12, b, { path: '/b.md', text: 'two', metadata: { tags: 'x,y' } });
    this.#write(C, 14, c, { path: '/c.md', text: 'three' });
    this.#write(D, 16, put('/c.md', '', ARCHIVE), { path: '/c.md', text: null });
  }

  #write(op: string, at: number, mutation: CalledMutation, change: ForgedChange): void {
    const [one] = this.world.slot(at, [{ ...change, op }]) as [TakenMutation];
    this.told.set(one.path, one);
    this.calls.push(call(op, [at - 1, at + 1], [mutation], took(one)));
  }

  /** Lands entries at 30, as the group. */
  land(...[first, ...rest]: ForgedChange[]): readonly TakenMutation[] {
    const group = rest.length === 0 ? {} : { group: rest.length + 1 };
    return this.world.slot(30, [{ ...group, ...first, op: GROUP } as ForgedChange, ...rest]);
  }

  /** What is told of a document that is left as it is. */
  kept({ path }: CalledMutation): TakenMutation {
    return { ...(this.told.get(path) as TakenMutation), committed: false, sequence: null };
  }

  /** What the oracle says when the group is asked for from 20 to 40, and told an outcome. */
  rules(
    mutations: readonly CalledMutation[],
    outcome: WriteOutcome | null,
    ...more: readonly Call[]
  ): readonly string[] {
    expect(this.world.ghost.violations).toEqual([]);
    const asked = call(GROUP, [20, outcome === null ? null : 40], mutations, outcome);
    return rulesOf([...this.calls, asked, ...more], this.world);
  }
}

describe('`check()` has nothing to say of a group', () => {
  test.each([
    ['first', [KEEP_A, NEW, put('/m.md', 'm')]],
    ['in the middle', [NEW, KEEP_B, put('/m.md', 'm')]],
    ['last', [NEW, put('/m.md', 'm'), KEEP_C]],
    ['as its first and last', [KEEP_C, NEW, put('/m.md', 'm'), KEEP_B]],
  ])('without what changed nothing %s, told or not', (_, mutations) => {
    const base = new Base();
    const landed = base.land(NEWS, { path: '/m.md', text: 'm' });
    const told = mutations.map((one) => {
      return landed.find(({ path }) => path === one.path) ?? base.kept(one);
    });
    expect(base.rules(mutations, took(...told))).toEqual([]);
    expect(base.rules(mutations, null)).toEqual([]);
    expect(base.rules(mutations, unknown(5))).toEqual([]);
  });

  test('of which one entry is left', () => {
    const base = new Base();
    const [one] = base.land(NEWS) as [TakenMutation];
    expect(base.rules([KEEP_A, NEW], took(base.kept(KEEP_A), one))).toEqual([]);
  });

  test('whose parts change what those after them find', () => {
    const base = new Base();
    const again = put('/a.md', 'one\nmore', { expected: 2, metadata: { type: 'Document' } });
    const landed = base.land(GROWN, { path: '/c.md', text: null }, { path: '/c.md', text: null });
    const [grown, back, away] = landed as [TakenMutation, TakenMutation, TakenMutation];
    const mutations = [MORE, again, put('/c.md', '', { kind: 'archive' }), KEEP_C, KEEP_C];
    const kept = (one: TakenMutation) => ({ ...one, committed: false, sequence: null });
    const told = [grown, kept(grown), back, away, kept(away)];
    expect(base.rules(mutations, took(...told))).toEqual([]);
  });

  test('that a repeat is told of as the log has it', () => {
    const base = new Base();
    const landed = base.land(NEWS, GROWN);
    const mutations = [KEEP_B, NEW, MORE];
    const again = call(GROUP, [50, 60], mutations, took(...landed));
    expect(base.rules(mutations, unknown(5), again)).toEqual([]);
    expect(base.rules(mutations, took(base.kept(KEEP_B), ...landed), again)).toEqual([]);
    expect(base.rules(mutations, null, again)).toEqual([]);
    // Somebody must have committed it.
    expect(base.rules(mutations, took(...landed), again)).toEqual(['group', 'group']);
    expect(base.rules(mutations, refused('OVERLOADED'), again)).toEqual(['I6', 'group']);
  });

  test('that changed nothing at all', () => {
    const base = new Base();
    const mutations = [KEEP_A, KEEP_B, KEEP_C];
    const told = mutations.map((one) => base.kept(one));
    expect(base.rules(mutations, took(...told))).toEqual([]);
    expect(base.rules(mutations, took(...told.slice(0, 2)))).toEqual(['group']);
    expect(base.rules(mutations, took())).toEqual(['group']);
  });
});

describe('`check()` tells of a group', () => {
  const parts: [string, CalledMutation][] = [
    ['changes something', put('/a.md', 'other')],
    ['changes metadata only', put('/a.md', 'one', { metadata: { x: 'y' } })],
    ['appends', MORE],
    ['brings back', put('/c.md', '', { kind: 'archive' })],
    ['is in conflict, and would change nothing', put('/a.md', 'one', { expected: 2 })],
    ['expects another ETag', put('/a.md', 'one', { expected: { etag: 'f'.repeat(64) } })],
    ['writes what is archived as it is', put('/c.md', 'three')],
    ['archives what is absent', put('/none.md', '', ARCHIVE)],
    ['writes a new document', put('/none.md', 'none')],
  ];

  test.each(parts)('that lacks what %s, answered in part, as kept or not', (_, lacking) => {
    const base = new Base();
    const landed = base.land(NEWS);
    expect(base.rules([NEW, lacking], took(...landed))).toEqual(['group', 'group']);
    expect(base.rules([lacking, NEW], null)).toEqual(['group']);
    const left = base.told.has(lacking.path) ? base.kept(lacking) : landed[0];
    expect(base.rules([NEW, lacking], took(...landed, left as TakenMutation))).toContain('group');
  });

  test('that lacks one of two writes of a document', () => {
    const mutations = [put('/new.md', 'new'), put('/new.md', 'newer')];
    const [early, late] = [new Base(), new Base()];
    early.land(NEWS);
    expect(early.rules(mutations, null)).toEqual(['group']);
    late.land({ path: '/new.md', text: 'newer' });
    expect(late.rules(mutations, null)).toEqual(['group']);
  });

  test('with an entry of what changed nothing', () => {
    const base = new Base();
    const landed = base.land({ path: '/a.md', text: 'one' }, NEWS);
    expect(base.rules([KEEP_A, NEW], took(...landed))).toEqual(['group']);
    const alone = new Base();
    const [only] = alone.land({ path: '/a.md', text: 'one' }) as [TakenMutation];
    expect(alone.rules([KEEP_A], took(only))).toEqual(['group']);
  });

  test('with more than was asked for', () => {
    const base = new Base();
    base.land(NEWS, GROWN);
    expect(base.rules([NEW], null)).toContain('group');
  });

  test('in another order', () => {
    const base = new Base();
    base.land(GROWN, NEWS);
    expect(base.rules([NEW, MORE], null)).toContain('group');
  });

  test('whose slot ends before it', () => {
    const base = new Base();
    base.land(NEWS, GROWN);
    const { operations } = base.world.ghost.world as GhostWorld;
    // No slot of the store's own encoder says so.
    const heads = operations.get(GROUP) ?? [];
    expect(heads.map(({ group }) => group)).toEqual([2]);
    operations.set(
      GROUP,
      heads.map((head) => ({ ...head, group: 3 })),
    );
    expect(base.rules([NEW, MORE], null)).toEqual(['group']);
  });

  test('of which the log says that it is smaller', () => {
    const base = new Base();
    base.world.slot(30, [{ ...NEWS, op: GROUP }, GROWN]);
    expect(base.rules([NEW, MORE], null)).toEqual(['group', 'exactly once']);
  });

  test('of which a part is told to be another than it was', () => {
    const base = new Base();
    const landed = base.land(NEWS);
    const kept = base.kept(KEEP_A);
    const mutations = [KEEP_A, NEW];
    const told = (one: Partial<TakenMutation>) => took({ ...kept, ...one }, ...landed);
    expect(base.rules(mutations, told({}))).toEqual([]);
    expect(base.rules(mutations, told({ version: 2 }))).toContain('outcome');
    expect(base.rules(mutations, told({ archived: true }))).toContain('outcome');
    expect(base.rules(mutations, told({ path: '/b.md' }))).toContain('outcome');
    expect(base.rules(mutations, took(...landed, kept))).toContain('outcome');
  });

  test('that is told unchanged, and was only part by part', () => {
    const base = new Base();
    const later = base.world.slot(25, [{ ...NEWS, op: uuidOf(21) }, GROWN]);
    const [made] = later as [TakenMutation, TakenMutation];
    const mutations = [put('/a.md', 'one'), put('/new.md', 'new')];
    const told = took(base.kept(KEEP_A), { ...made, committed: false, sequence: null });
    // The first held up to the slot's second entry, the second from its first on.
    expect(base.rules(mutations, told)).not.toContain('outcome');
    const apart = [
      put('/a.md', 'one'),
      put('/a.md', 'one\nmore', { metadata: { type: 'Document' } }),
    ];
    const both = took(base.kept(KEEP_A), { ...(later[1] as TakenMutation), committed: false });
    expect(base.rules(apart, both)).toContain('outcome');
  });
});
