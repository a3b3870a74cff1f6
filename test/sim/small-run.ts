/**
 * A small run of real stores on a simulated bucket, for the tests of the oracle alone: a few
 * clients that write and read, under the faults of a profile, without crashes and pauses.
 */
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { isStoreError } from '../../bucketstore/base/errors.ts';
import { openWorld, type World } from '../../bucketstore/index.ts';
import { Bench } from './bench.ts';
import { drawProfile } from './faults.ts';
import type { Call, CalledMutation, ReadAnswer, ReadCall, WriteOutcome } from './history.ts';
import { GhostLog } from './oracle/ghost-log.ts';
import { SimProcess } from './process.ts';
import { SimRandom } from './random.ts';

export interface SmallRun {
  readonly history: readonly Call[];
  readonly ghost: GhostLog;
}

const PATHS = ['/a.md', '/b.md', '/d/a.md', '/d/.h', '/e/f/g.md', '/a.md/below.md'];

/** Two stores with three clients each, who call `rounds` times each. */
export async function smallRun(seed: number, rounds: number): Promise<SmallRun> {
  const random = new SimRandom(seed);
  const bench = new Bench(drawProfile(random.fork('profile')), seed);
  const ghost = new GhostLog();
  bench.bucket.onEffect(({ key, bytes, outcome, at }) => {
    if (outcome === 'created' && bytes !== null) ghost.landed(key, bytes, at);
    if (outcome === 'deleted') ghost.removed(key, at);
  });
  const history: Call[] = [];
  const run = async (id: string): Promise<void> => {
    const { timeline, coverage } = bench;
    const process = new SimProcess({ timeline, coverage, id });
    const components = {
      clock: process.clock,
      random: random.fork(id),
      bucket: bench.connect(process),
    };
    const world = await opened(() => openWorld('memory:', { create: true, components }));
    const clients = ['x', 'y', 'z'].map((name) => {
      const draws = random.fork(`${id} ${name}`);
      return new Client(world, id, draws, () => timeline.now, history).run(rounds);
    });
    await Promise.all(clients);
    bench.faults.calm();
    await world.close();
  };
  await bench.settle(Promise.all([run('one'), run('two')]));
  return { history, ghost };
}

/** Opens under faults: what fails is tried again. */
async function opened(open: () => Promise<World>): Promise<World> {
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!isStoreError(error)) throw error;
    }
  }
}

class Client {
  readonly #world: World;
  readonly #process: string;
  readonly #random: SimRandom;
  readonly #now: () => number;
  readonly #history: Call[];
  #bodies = 0;

  constructor(
    world: World,
    process: string,
    random: SimRandom,
    now: () => number,
    history: Call[],
  ) {
    this.#world = world;
    this.#process = process;
    this.#random = random;
    this.#now = now;
    this.#history = history;
  }

  async run(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      if (this.#random.chance(0.6)) await this.#write();
      else await this.#view();
    }
  }

  async #write(): Promise<void> {
    const count = this.#random.chance(0.2) ? 2 : 1;
    const mutations = Array.from({ length: count }, () => this.#mutation());
    const op = this.#random.uuid();
    for (let again = true; again; ) {
      const called = this.#now();
      const outcome = await this.#commit(mutations, op);
      const process = this.#process;
      this.#history.push({
        ...{ kind: 'write', process, op, mutations, called },
        ...{ returned: this.#now(), outcome },
      });
      if (outcome.kind === 'unknown') await this.#ask(op, outcome.after);
      again = outcome.kind === 'unknown' && this.#random.chance(0.5);
    }
  }

  #mutation(): CalledMutation {
    const random = this.#random;
    const path = random.pick(PATHS);
    const kind = random.pick(['publish', 'publish', 'append', 'archive'] as const);
    const large = random.chance(0.1) ? 'large '.repeat(4000) : '';
    const fresh = `${large}${this.#process} ${random.uuid()} ${this.#bodies++}`;
    const body = random.chance(0.2) ? 'the same' : fresh;
    const metadata = random.chance(0.2) ? { tags: ' x, y', retention: '2' } : null;
    const version = 1 + random.integer(9);
    const expected =
      kind === 'append' ? version : random.pick(['any', 'any', 'absent', version] as const);
    const requires = null;
    return { kind, path, body, metadata, archived: random.chance(0.5), expected, requires };
  }

  async #commit(mutations: readonly CalledMutation[], op: string): Promise<WriteOutcome> {
    try {
      const results = await this.#world.commit(mutations.map(requestOf), { op });
      return { kind: 'taken', taken: results.map(takenOf) };
    } catch (error) {
      if (!isStoreError(error)) return { kind: 'unclear', message: String(error) };
      const { code, message, details } = error;
      if (code === 'UNKNOWN_OUTCOME')
        return { kind: 'unknown', after: details.after ?? 0, message };
      return { kind: 'refused', code, message, currentVersion: details.currentVersion ?? null };
    }
  }

  async #ask(op: string, after: number): Promise<void> {
    const called = this.#now();
    const answer = await this.#world.operation(op, after).then(
      (results) =>
        results === null
          ? ({ kind: 'not committed' } as const)
          : ({ kind: 'committed', taken: results.map(takenOf) } as const),
      (error) => {
        const open = isStoreError(error) && error.code === 'UNKNOWN_OUTCOME';
        return open
          ? ({ kind: 'open' } as const)
          : ({ kind: 'failed', message: String(error) } as const);
      },
    );
    const process = this.#process;
    this.#history.push({
      kind: 'operation',
      process,
      op,
      after,
      called,
      returned: this.#now(),
      answer,
    });
  }

  async #view(): Promise<void> {
    const view = this.#world.view();
    const reads: ReadCall[] = [];
    const kinds = ['get', 'get', 'versions', 'isDir', 'list', 'hash'] as const;
    for (let count = 1 + this.#random.integer(3); count > 0; count--) {
      const what = this.#random.pick(kinds);
      const path = what === 'hash' ? SAME_HASH : this.#random.pick([...PATHS, '/', '/d', '/e']);
      const called = this.#now();
      const answer = await answerOf(view, what, path);
      reads.push({ what, path, called, returned: this.#now(), answer });
    }
    await view.close();
    this.#history.push({ kind: 'view', process: this.#process, reads, disturbed: false });
  }
}

const SAME_HASH = `sha256-${sha256Hex('the same')}`;

type View = ReturnType<World['view']>;
type Results = Awaited<ReturnType<World['commit']>>;

function requestOf(mutation: CalledMutation): Parameters<World['commit']>[0][number] {
  const { kind, path, body, metadata, archived, expected } = mutation;
  if (kind === 'archive') return { kind, path, archived, expected };
  if (kind === 'publish') return { kind, path, body, metadata, expected };
  if (typeof expected === 'string') throw new TypeError('an append expects a version');
  return { kind, path, content: body, metadata, expected };
}

function takenOf({ committed, sequence, document }: Results[number]) {
  const { path, version, etag, archived } = document;
  return { path, version, etag, archived, committed, sequence };
}

async function answerOf(
  view: View,
  what: ReadCall['what'],
  path: string,
): Promise<ReadAnswer | null> {
  try {
    return await asked(view, what, path);
  } catch (error) {
    return isStoreError(error) && error.code === 'NOT_FOUND' ? { kind: 'absent' } : null;
  }
}

async function asked(view: View, what: ReadCall['what'], path: string): Promise<ReadAnswer> {
  switch (what) {
    case 'get': {
      const { version, etag, archived, body } = await view.get(path);
      return { kind: 'document', version, etag, archived, body: Buffer.from(body).toString() };
    }
    case 'versions':
      return { kind: 'versions', etags: (await view.versions(path)).map(({ etag }) => etag) };
    case 'isDir':
      return { kind: 'directory', isDir: await view.isDir(path) };
    case 'list': {
      const entries = await view.listEntries(path);
      return { kind: 'names', names: entries.map(({ name, isDir }) => name + (isDir ? '/' : '')) };
    }
    case 'hash':
      return { kind: 'path', path: await view.lookupHash(path) };
    default:
      return what satisfies never;
  }
}
