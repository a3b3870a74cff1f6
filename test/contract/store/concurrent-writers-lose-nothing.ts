/**
 * ConcurrentWritersLoseNothing: every acknowledged version is unique, contiguous and readable
 * with its body. Only writes with an expectation may conflict; blind writes all succeed.
 */
import assert from 'node:assert/strict';
import { isStoreError } from '../../../bucketstore/index.ts';
import { type ContractStore, inView, type StoreCase, textOf } from './store-case.ts';

const STORES = 3;
const WRITERS = 4;
const ROUNDS = 6;

/** Acknowledged bodies by path and version. */
type Acknowledged = Map<string, Map<number, string>>;

export const concurrentWritersLoseNothing: StoreCase = async ({ open }) => {
  const stores = [await open(), await open(), await open()];
  assert.equal(stores.length, STORES);
  const acknowledged: Acknowledged = new Map();
  const writers = stores.flatMap((store, s) =>
    Array.from({ length: WRITERS }, (_, w) => write(store, `${s}-${w}`, acknowledged)),
  );
  const conflicts = (await Promise.all(writers)).reduce((sum, count) => sum + count, 0);
  assert.ok(conflicts > 0, 'writers of one document with expectations do conflict');
  const blind = acknowledged.get('/blind.md');
  assert.equal(blind?.size, STORES * WRITERS * ROUNDS, 'every blind write is a version');
  for (const store of stores) {
    for (const [path, versions] of acknowledged) await check(store, path, versions);
  }
};

/** @returns how many of its writes conflicted */
async function write(store: ContractStore, name: string, acknowledged: Acknowledged) {
  let conflicts = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const body = `${name} in round ${round}`;
    const own = `/own/${name}.md`;
    note(acknowledged, own, await publish(store, own, round, body));
    note(acknowledged, '/blind.md', await publish(store, '/blind.md', 'any', body));
    const shared = await inView(store, (view) =>
      view.stat('/shared.md').then(
        ({ version }) => version,
        () => 0,
      ),
    );
    try {
      note(acknowledged, '/shared.md', await publish(store, '/shared.md', shared, body));
    } catch (error) {
      if (!isStoreError(error) || error.code !== 'CONFLICT') throw error;
      conflicts++;
    }
  }
  return conflicts;
}

async function publish(store: ContractStore, path: string, expected: number | 'any', body: string) {
  const { document, committed } = await store.publish({ path, expected, body });
  assert.equal(committed, true);
  assert.equal(textOf(document.body), body);
  return { version: document.version, body };
}

function note(
  acknowledged: Acknowledged,
  path: string,
  { version, body }: { readonly version: number; readonly body: string },
): void {
  const versions = acknowledged.get(path) ?? new Map<number, string>();
  assert.equal(versions.has(version), false, `${path} version ${version} is given twice`);
  versions.set(version, body);
  acknowledged.set(path, versions);
}

async function check(
  store: ContractStore,
  path: string,
  versions: ReadonlyMap<number, string>,
): Promise<void> {
  await inView(store, async (view) => {
    const listed = (await view.versions(path)).map(({ version }) => version);
    const expected = Array.from({ length: versions.size }, (_, i) => versions.size - i);
    assert.deepEqual(listed, expected, `${path} is contiguous`);
    const reads = [...versions].map(async ([version, body]) => {
      assert.equal(textOf((await view.get(path, { version })).body), body, `${path} ${version}`);
    });
    await Promise.all(reads);
    await view.verifyChain(path);
  });
}
