/** Clients that write: as planned, again after a failure, and asking what became of it. */
import type { MutationRequest } from '../../bucketstore/commit/mutation.ts';
import type { Expected } from '../../bucketstore/index.ts';
import type { StateReader } from '../../bucketstore/snapshot/reader.ts';
import { failedWrite, isStoreFailure, takenOf, Unmet } from './answers.ts';
import type { CalledMutation, OperationCall, TakenMutation, WriteOutcome } from './history.ts';
import type { Life, SimStore } from './life.ts';
import type { PlanEvent, PlannedMutation } from './plan.ts';
import type { Scene } from './scene.ts';

type PlannedWrite = Extract<PlanEvent, { readonly kind: 'write' }>;

/** An operation that was told *unknown*, and by when that was. */
export interface Unknown {
  readonly op: string;
  readonly after: number;
}

/** A client that sends again does so before the slots can be collected. */
const AGAIN_MS = 60_000;

export class Writers {
  readonly unknowns: Unknown[] = [];
  readonly #scene: Scene;
  readonly #stores: readonly SimStore[];

  constructor(scene: Scene, stores: readonly SimStore[]) {
    this.#scene = scene;
    this.#stores = stores;
  }

  /** Sends a planned write, to both stores if it has a twin; nothing when its store is down. */
  write(planned: PlannedWrite): void {
    const op = this.#scene.random.uuid();
    const mutations = planned.mutations.map((one) => this.#resolve(one));
    const send = { ...planned, op, mutations, first: this.#scene.timeline.now };
    this.#send(planned.store, send);
    if (planned.twin !== null) this.#send(planned.twin, send);
  }

  /** Asks a store what became of an operation. */
  ask(store: SimStore, { op, after }: Unknown): void {
    const { timeline, history } = this.#scene;
    const { life } = store;
    if (life === null) return;
    const { process } = life;
    const call = { kind: 'operation', process: process.id, op, after } as const;
    const open = { ...call, called: timeline.now, returned: null, answer: null };
    const answered = history.call(process, open);
    const settle = (answer: OperationCall['answer']): void => {
      answered(timeline.now, { ...open, returned: timeline.now, answer });
    };
    process.deliver(() => {
      life.world.operation(op, after).then(
        (results) =>
          settle(
            results === null
              ? { kind: 'not committed' }
              : { kind: 'committed', taken: takenOf(results) },
          ),
        (error: unknown) => settle(failedQuestion(error)),
      );
    });
  }

  #resolve(planned: PlannedMutation): CalledMutation {
    const { history } = this.#scene;
    const known = history.known(planned.path);
    const requires =
      planned.requires === null
        ? null
        : { path: planned.requires, version: history.known(planned.requires)?.version ?? 0 };
    return { ...planned, expected: expectedOf(planned, known), requires };
  }

  #send(store: number, sent: Repeated): void {
    const { timeline, history } = this.#scene;
    const life = this.#stores[store]?.life;
    if (life === null || life === undefined) return;
    const { process } = life;
    const { op, mutations } = sent;
    const call = { kind: 'write', process: process.id, op, mutations } as const;
    const open = { ...call, called: timeline.now, returned: null, outcome: null };
    const answered = history.call(process, open);
    timeline.trace(`${process.id} is asked ${op} ${mutations.map(mutationWords).join(', ')}`);
    process.deliver(() => {
      void commit(life, sent).then((outcome) => {
        const { now } = timeline;
        timeline.trace(`${process.id} answers ${op} ${outcome.kind} ${wordsOf(outcome)}`);
        answered(now, { ...open, returned: now, outcome });
        if (outcome.kind === 'taken') this.#learn(outcome.taken);
        if (outcome.kind === 'unknown') this.#again(sent, outcome);
      });
    });
  }

  #learn(taken: readonly TakenMutation[]): void {
    for (const { path, version, etag } of taken) {
      this.#scene.history.learn(path, { version, etag, bodyHash: null });
    }
  }

  /** After an *unknown*: asks, or sends the same request again, to any store. */
  #again(sent: Repeated, { after, message }: WriteOutcome & { readonly kind: 'unknown' }): void {
    const { timeline, random } = this.#scene;
    const { op } = sent;
    this.unknowns.push({ op, after });
    const soon = timeline.now - sent.first < AGAIN_MS && message.includes('send the request again');
    const repeats = random.chance(0.5) && soon;
    const store = random.integer(this.#stores.length);
    timeline.after(random.between(10, 5_000), () => {
      const chosen = this.#stores[store];
      if (repeats && timeline.now - sent.first < AGAIN_MS) this.#send(store, sent);
      else if (chosen !== undefined) this.ask(chosen, { op, after });
    });
  }
}

/** A request with its operation; sent again it is the same. */
export interface Sent {
  readonly op: string;
  readonly mutations: readonly CalledMutation[];
  readonly deadlineMs: number;
}

interface Repeated extends Sent {
  /** True time when it was sent first. */
  readonly first: number;
}

/** Sends a request to a store and tells the answer as the history has it. */
export async function commit({ world }: Life, sent: Sent): Promise<WriteOutcome> {
  const { op, mutations, deadlineMs } = sent;
  try {
    const results = await world.commit(mutations.map(requestOf), { op, deadlineMs });
    return { kind: 'taken', taken: takenOf(results) };
  } catch (error) {
    return failedWrite(error);
  }
}

function requestOf(called: CalledMutation): MutationRequest {
  const { kind, path, body, metadata, archived, requires } = called;
  const precondition =
    requires === null ? undefined : (state: StateReader): Promise<void> => meets(state, requires);
  // The simulation plans no other expectation for an append.
  const expected = called.expected as Expected & (number | { readonly etag: string });
  switch (kind) {
    case 'publish':
      return { kind, path, expected, body, metadata, precondition };
    case 'append':
      return { kind, path, expected, content: body, metadata, precondition };
    case 'archive':
      return { kind, path, expected, archived, precondition };
    default:
      return kind satisfies never;
  }
}

async function meets(
  state: StateReader,
  { path, version }: { readonly path: string; readonly version: number },
): Promise<void> {
  const found = await state.stat(path).catch((error: unknown) => {
    if (isStoreFailure(error) && error.code === 'NOT_FOUND') return { version: 0 };
    throw error;
  });
  if (found.version !== version) throw new Unmet(`${path} is at ${found.version}, not ${version}`);
}

function expectedOf(
  { kind, expected }: PlannedMutation,
  known: { readonly version: number; readonly etag: string } | undefined,
): CalledMutation['expected'] {
  if (expected === 'any' && kind !== 'append') return 'any';
  if (expected === 'absent' && kind !== 'append') return 'absent';
  if (known === undefined) return kind === 'append' ? 1 : 'any';
  if (expected === 'known etag') return { etag: known.etag };
  return expected === 'older version' ? Math.max(1, known.version - 1) : known.version;
}

function failedQuestion(error: unknown): OperationCall['answer'] {
  if (!isStoreFailure(error)) return { kind: 'failed', message: String(error) };
  if (error.code === 'TOO_OLD') return { kind: 'too old' };
  if (error.code === 'UNKNOWN_OUTCOME') return { kind: 'open' };
  return { kind: 'failed', message: `${error.code}: ${error.message}` };
}

function mutationWords({ kind, path, expected }: CalledMutation): string {
  const at = typeof expected === 'object' ? expected.etag : expected;
  return `${kind} ${path} at ${at}`;
}

function wordsOf(outcome: WriteOutcome): string {
  switch (outcome.kind) {
    case 'taken':
      return outcome.taken
        .map(({ path, version, sequence }) => {
          return `${path}@${version}#${sequence}`;
        })
        .join(' ');
    case 'refused':
      return `${outcome.code} ${outcome.message}`;
    case 'unknown':
      return `after ${outcome.after}`;
    case 'too old':
      return 'too old';
    case 'unclear':
      return outcome.message;
    default:
      return outcome satisfies never;
  }
}
