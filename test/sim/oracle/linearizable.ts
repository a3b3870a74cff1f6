/**
 * Whether calls that overlapped can have taken effect one after another, each at one moment between
 * its call and its answer. The search is Wing and Gong's, depth first with undo, with Lowe's memo
 * of the sets of calls and states that led nowhere.
 */

/** A call with its times. Calls of one instant count as overlapping. */
export interface TimedCall {
  readonly called: number;
  /** null: it may take effect at any time after `called`, or never. */
  readonly returned: number | null;
}

/** What calls do when they are made one after another. */
export interface SequentialModel<State, Call> {
  readonly initial: State;
  /** The state after a call that was answered as it was; null when it cannot have been. */
  readonly step: (state: State, call: Call) => State | null;
  /** Equal for equal states, and for no others. */
  readonly key: (state: State) => string;
  /**
   * Whether a call leaves every state as it is that it can follow. One that can come now need not
   * come later: taken at once, it costs no choice. Default: none does.
   */
  readonly observes?: (call: Call) => boolean;
}

export type Verdict = 'linearizable' | 'not linearizable' | 'gave up';

/** @param stepsMax how many steps of the model to try before giving up */
export function checkLinearizable<State, Call extends TimedCall>(
  model: SequentialModel<State, Call>,
  calls: readonly Call[],
  stepsMax = 200_000,
): Verdict {
  return new Search(model, calls).run(stepsMax);
}

interface Choice<State> {
  readonly event: number;
  readonly before: State;
  /** Nothing is gained by not having chosen it. */
  readonly forced: boolean;
}

/**
 * Events, calls and returns, lie in a list by time; a call that is put in order leaves it with its
 * return. A return that is met first is one of a call that was not put in order in time.
 */
class Search<State, Call extends TimedCall> {
  readonly #model: SequentialModel<State, Call>;
  readonly #calls: readonly Call[];
  /** Of each event, the index of its call. */
  readonly #callOf: number[] = [];
  readonly #isReturn: boolean[] = [];
  readonly #returnOf = new Map<number, number>();
  /** The list: positions are event + 1, and 0 is its head. */
  readonly #next: number[] = [];
  readonly #previous: number[] = [];
  readonly #done: Int32Array;
  readonly #seen = new Set<string>();
  #required: number;

  constructor(model: SequentialModel<State, Call>, calls: readonly Call[]) {
    this.#model = model;
    this.#calls = calls;
    this.#done = new Int32Array((calls.length >> 5) + 1);
    this.#required = calls.filter(({ returned }) => returned !== null).length;
    for (const { call, isReturn } of inOrder(calls)) {
      if (isReturn) this.#returnOf.set(call, this.#callOf.length);
      this.#callOf.push(call);
      this.#isReturn.push(isReturn);
    }
    for (let at = 0; at <= this.#callOf.length; at++) {
      this.#next.push(at + 1);
      this.#previous.push(at - 1);
    }
  }

  run(stepsMax: number): Verdict {
    const stack: Choice<State>[] = [];
    let state = this.#model.initial;
    let at = this.#next[0] ?? 0;
    for (let steps = 0; this.#required > 0; ) {
      const event = at - 1;
      const call = this.#calls[this.#callOf[event] ?? -1];
      if (call === undefined || this.#isReturn[event] === true) {
        const choice = this.#undo(stack);
        if (choice === undefined) return 'not linearizable';
        state = choice.before;
        at = this.#next[choice.event + 1] ?? 0;
        continue;
      }
      if (++steps > stepsMax) return 'gave up';
      const after = this.#model.step(state, call);
      if (after !== null && this.#isNew(event, after)) {
        const forced = after === state && (this.#model.observes?.(call) ?? false);
        stack.push({ event, before: state, forced });
        state = after;
        this.#take(event);
        at = this.#next[0] ?? 0;
      } else {
        at = this.#next[at] ?? 0;
      }
    }
    return 'linearizable';
  }

  /** Takes back choices up to the last that could have been another. */
  #undo(stack: Choice<State>[]): Choice<State> | undefined {
    for (;;) {
      const choice = stack.pop();
      if (choice === undefined) return undefined;
      this.#restore(choice.event);
      if (!choice.forced) return choice;
    }
  }

  /** Whether the set of calls with this one, in this state, was not tried before. */
  #isNew(event: number, after: State): boolean {
    this.#mark(event);
    const key = `${this.#done.join(' ')}|${this.#model.key(after)}`;
    this.#mark(event);
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }

  /** Marks a call as put in order, or takes the mark back. */
  #mark(event: number): void {
    const call = this.#callOf[event] ?? 0;
    this.#done[call >> 5] = (this.#done[call >> 5] ?? 0) ^ (1 << (call & 31));
  }

  #take(event: number): void {
    this.#mark(event);
    this.#unlink(event + 1);
    const end = this.#returnOf.get(this.#callOf[event] ?? -1);
    if (end === undefined) return;
    this.#unlink(end + 1);
    this.#required -= 1;
  }

  #restore(event: number): void {
    const end = this.#returnOf.get(this.#callOf[event] ?? -1);
    if (end !== undefined) {
      this.#relink(end + 1);
      this.#required += 1;
    }
    this.#relink(event + 1);
    this.#mark(event);
  }

  #unlink(at: number): void {
    const next = this.#next[at] ?? 0;
    const previous = this.#previous[at] ?? 0;
    this.#next[previous] = next;
    this.#previous[next] = previous;
  }

  #relink(at: number): void {
    this.#next[this.#previous[at] ?? 0] = at;
    this.#previous[this.#next[at] ?? 0] = at;
  }
}

/** Calls and returns by time; at one instant calls first, so that they overlap. */
function inOrder(calls: readonly TimedCall[]): { call: number; isReturn: boolean }[] {
  const events = calls.flatMap(({ called, returned }, call) => [
    { call, isReturn: false, at: called },
    ...(returned === null ? [] : [{ call, isReturn: true, at: returned }]),
  ]);
  return events.sort((a, b) => a.at - b.at || Number(a.isReturn) - Number(b.isReturn));
}
