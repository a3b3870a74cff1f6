/**
 * Two stores of one world against a plain model in memory, by random operations: each answer must
 * be the model's, whichever store gives it. A failure names its seed and step; the same seed
 * replays it.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  isStoreError,
  type MutationRequest,
  type MutationResult,
} from '../../../bucketstore/index.ts';
import { type ModelMutation, ModelRefusal, type ModelResult, WorldModel } from './model.ts';
import { linesOf } from './model-bytes.ts';
import { Operator, type Read } from './operator.ts';
import {
  type ContractStore,
  inView,
  runCase,
  type StoreContractOptions,
  textOf,
} from './store-case.ts';

export interface StoreDifferentialOptions extends StoreContractOptions {
  /** One run each. Default two of them. */
  readonly seeds?: readonly number[] | undefined;
  /** Operations a run. Default 200. */
  readonly operations?: number | undefined;
}

/** Registers one test for each seed. */
export function storeDifferential(options: StoreDifferentialOptions): void {
  const { seeds = [20260101, 20260102], operations = 200 } = options;
  for (const seed of seeds) {
    options.test(`two stores and a model agree, seed ${seed}, ${operations} operations`, () =>
      runCase(options.factory, async ({ open }) => {
        // One that inlines and one that stages: what a reader sees does not depend on it.
        const stores = [await open(), await open({ inlineBytes: 0 })];
        await new Differential(seed, stores).run(operations);
      }),
    );
  }
}

class Differential {
  readonly #seed: number;
  readonly #stores: readonly ContractStore[];
  readonly #model = new WorldModel();
  readonly #operator: Operator;

  constructor(seed: number, stores: readonly ContractStore[]) {
    this.#seed = seed;
    this.#stores = stores;
    this.#operator = new Operator(seed, this.#model);
  }

  async run(operations: number): Promise<void> {
    const seen = new Set<string>();
    for (let step = 0; step < operations; step++) {
      const store = this.#operator.pick(this.#stores);
      const operation = this.#operator.next();
      const words = `seed ${this.#seed}, step ${step}: ${JSON.stringify(operation)}`;
      const ours = await outcomeOf(async () =>
        'read' in operation ? readStore(store, operation) : commitStore(store, operation.mutations),
      );
      const theirs = await outcomeOf(async () =>
        'read' in operation
          ? readModel(this.#model, operation)
          : this.#model.commit(operation.mutations),
      );
      assert.deepEqual(ours, theirs, words);
      seen.add(kindOf(theirs));
    }
    for (const kind of ['CONFLICT', 'ARCHIVED', 'PATH_COLLISION', 'NOT_FOUND', 'answered']) {
      assert.ok(seen.has(kind), `seed ${this.#seed}: ${operations} operations met no ${kind}`);
    }
    await this.#compareAll();
  }

  /** At the end every document of every store is the model's, to the last version. */
  async #compareAll(): Promise<void> {
    for (const store of this.#stores) {
      const { documents, sequence } = await store.stat();
      assert.equal(documents, this.#model.paths.length, `seed ${this.#seed}: documents`);
      assert.equal(sequence, this.#model.sequence, `seed ${this.#seed}: sequence`);
      for (const path of this.#model.paths) {
        await inView(store, (view) => view.verifyChain(path));
        for (const version of this.#model.versions(path)) {
          const read: Read = { read: 'version', path, version };
          const words = `seed ${this.#seed}, at the end: ${JSON.stringify(read)}`;
          assert.deepEqual(await readStore(store, read), readModel(this.#model, read), words);
        }
      }
    }
  }
}

type Outcome =
  | { readonly refused: string; readonly currentVersion: number | undefined }
  | { readonly answer: unknown };

async function outcomeOf(run: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { answer: await run() };
  } catch (error) {
    if (error instanceof ModelRefusal) {
      return { refused: error.code, currentVersion: error.currentVersion };
    }
    if (!isStoreError(error)) throw error;
    const { code, details } = error;
    return {
      refused: code,
      currentVersion: code === 'CONFLICT' ? details.currentVersion : undefined,
    };
  }
}

function kindOf(outcome: Outcome): string {
  return 'refused' in outcome ? outcome.refused : 'answered';
}

/** One mutation by its own method, several as a group. */
async function commitStore(
  store: ContractStore,
  mutations: readonly ModelMutation[],
): Promise<readonly ModelResult[]> {
  const [first, ...rest] = mutations;
  if (first === undefined || rest.length > 0) {
    return (await store.commit(mutations satisfies readonly MutationRequest[])).map(resultOf);
  }
  switch (first.kind) {
    case 'publish':
      return [resultOf(await store.publish(first))];
    case 'append':
      return [resultOf(await store.append(first))];
    case 'archive':
      return [resultOf(await store.setArchived(first))];
    default:
      return first satisfies never;
  }
}

function resultOf(result: MutationResult): ModelResult {
  const { committed, sequence, document } = result;
  const { version, etag, archived } = document;
  const shown = { version, etag, archived, committed, sequence };
  return 'pruned' in result ? { ...shown, pruned: result.pruned } : shown;
}

async function readStore(store: ContractStore, read: Read): Promise<unknown> {
  return inView(store, async (view) => {
    switch (read.read) {
      case 'get':
      case 'version': {
        const version = read.read === 'version' ? read.version : undefined;
        const { archived, ...found } = await view.get(read.path, { version });
        const metadata = linesOf(Object.entries(found.metadata ?? {}));
        const shown = {
          version: found.version,
          body: textOf(found.body),
          metadata,
          etag: found.etag,
        };
        return read.read === 'get' ? { ...shown, archived } : shown;
      }
      case 'versions':
        return (await view.versions(read.path)).map(({ version }) => version);
      case 'isDir':
        return view.isDir(read.path);
      case 'list': {
        // An exact read first, so that the list is of now through either store.
        await view.isDir('/');
        const { after, limit, includeArchived } = read;
        const entries = await view.listEntries(read.path, { after, limit, includeArchived });
        return entries.map(({ name, isDir }) => (isDir ? `${name}/` : name));
      }
      case 'hash': {
        await view.isDir('/');
        const hash = createHash('sha256').update(read.body).digest('hex');
        return view.lookupHash(`sha256-${hash}`);
      }
      default:
        return read satisfies never;
    }
  });
}

function readModel(model: WorldModel, read: Read): unknown {
  switch (read.read) {
    case 'get':
      return model.current(read.path);
    case 'version':
      return model.version(read.path, read.version);
    case 'versions':
      return model.versions(read.path);
    case 'isDir':
      return model.isDirectory(read.path);
    case 'list':
      return model.list(read.path, read.after, read.limit, read.includeArchived);
    case 'hash':
      return model.pathOfBody(read.body);
    default:
      return read satisfies never;
  }
}
