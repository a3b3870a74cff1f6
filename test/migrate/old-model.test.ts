/**
 * Goal: the model of the old store, with which migration is checked, is itself right.
 * Method: its bytes against known hashes; its writer against its own strict reader, on every kind
 * of document; its replicas against each other, on a bucket that fails and interleaves.
 */
import { describe, expect, it } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { encodeMarker, genesisMarker } from '../../bucketstore/log/marker.ts';
import { decodeChangeBlock } from '../schema1/decode.ts';
import { createGenesis, genesisObjects } from '../schema1/genesis.ts';
import { encodeGoJson } from '../schema1/go-json.ts';
import { buildHistory } from '../schema1/history.ts';
import { changeKey, HEAD_KEY, PREFIX, RECEIPTS_MAX, sha256, shardOf } from '../schema1/names.ts';
import { OldWorld } from '../schema1/old-world.ts';
import { encodeShard } from '../schema1/records.ts';
import { ATTEMPTS_MAX, OldReplica, PACE_MS } from '../schema1/replica.ts';
import { bodyHashOf, encodeStored } from '../schema1/stored.ts';
import { lostAnswer, unavailable, withFaults } from '../support/faulty-bucket.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { Schedule, withSchedule } from '../support/scheduled-bucket.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const WORLD = '52b471f7-8d38-4c89-b44a-6f4f8b1a4f48';
const SEED = 7;

/** An empty world, and replicas of it. */
async function emptyWorld() {
  const clock = new ManualClock();
  const random = new SeededRandom(SEED);
  const bucket = createMemoryBucket({ timing: clock });
  await createGenesis(bucket, WORLD);
  const open = (through: BlobStore = bucket, keepsChanges = false): Promise<OldReplica> => {
    return OldReplica.open(through, {
      worldId: WORLD,
      timing: clock,
      chance: random,
      keepsChanges,
    });
  };
  return { bucket, clock, random, open };
}

async function keysOf(bucket: BlobStore): Promise<readonly string[]> {
  const keys: string[] = [];
  for (let more = true; more; ) {
    const page = await bucket.list({ prefix: '', after: keys.at(-1), limit: 1000 });
    keys.push(...page.objects.map(({ key }) => key));
    more = page.more;
  }
  return keys;
}

describe('the encoder', () => {
  it.each([
    ['<b> & "\\"\u2028\u2029', '"\\u003cb\\u003e \\u0026 \\"\\\\\\"\\u2028\\u2029"'],
    ['\n\r\t\b\f\u0000\u001f', '"\\n\\r\\t\\b\\f\\u0000\\u001f"'],
    ['a/\u007f\u00e9\u{1f680}\u0085', '"a/\u007f\u00e9\u{1f680}\u0085"'],
    ['\ud800', '"\\ufffd"'],
  ])('spells %j as Go does', (text, spelled) => {
    expect(Buffer.from(encodeGoJson(text)).toString()).toBe(spelled);
  });

  it('spells U+0008 and U+000C as an older Go when asked, and nothing else otherwise', () => {
    const bytes = encodeGoJson('\b\f\\b\n', 'long');
    expect(Buffer.from(bytes).toString()).toBe('"\\u0008\\u000c\\\\b\\n"');
  });

  it('keeps the order of fields, sorts maps by bytes and leaves out what is undefined', () => {
    const map = new Map([
      ['\u{10000}', 'c'],
      ['\uffff', 'b'],
      ['9', 'z'],
      ['10', 'a'],
    ]);
    const bytes = encodeGoJson({ b: 1, a: [true], none: undefined, map });
    const spelled = '{"b":1,"a":[true],"map":{"10":"a","9":"z","\uffff":"b","\u{10000}":"c"}}';
    expect(Buffer.from(bytes).toString()).toBe(spelled);
  });
});

describe('golden vectors', () => {
  const one = new Map([
    ['tags', 'alpha,beta'],
    ['importance', '0.5'],
  ]);
  const two = new Map([
    ['type', 'Document'],
    ['tags', 'alpha,beta'],
  ]);
  const body = Buffer.from('# A\n');
  const first = encodeStored({ version: 1, previous: null, metadata: one, body });
  const second = encodeStored({
    version: 2,
    previous: sha256(first),
    metadata: two,
    body: Buffer.from('# A\nmore\n'),
  });
  const genesis = genesisObjects(WORLD).map(({ bytes }) => bytes);
  const block = buildHistory('1'.repeat(64), [
    {
      version: 257,
      blobHash: '2'.repeat(64),
      bodyHash: `sha256-${'3'.repeat(64)}`,
      modified: '2026-08-22T12:34:56Z',
    },
  ]).objects[0]?.bytes;

  it.each([
    ['history block', block, '5e05909fff72d37f900610461db9d4b779fe075d2e68239c7cb73a1f31b12c02'],
    [
      'empty shard 00',
      encodeShard({ index: 0, entries: [] }),
      '8bac25453e76d8fe3e1559a2e32aa9a43caf9cb7015637b46b8c3105d6139863',
    ],
    [
      'empty shard ff',
      encodeShard({ index: 255, entries: [] }),
      'c123530adfa799a95a6d3174230c7b46b7bc61e348c9efa213747f76e4d3113f',
    ],
    ['root', genesis.at(-2), 'd5a8d6f45f98a7cff85a55ac943f6ca9663f2e06a749f66b84734ae794691c71'],
    ['head', genesis.at(-1), 'a3268f1b6cbadd5f811956078e39108d88951c1089dd5c1edf6a25581b457e76'],
    ['version 1', first, '6b2081134bf6a2ae4b8113fda34ff19c80662a9f3285c66b28e2f19a9bf04b75'],
    ['version 2', second, 'f84688ce7f8303e4ea030dbfb7f93e34c10ed2519665abcf150dca6a7ceff384'],
  ])('hold for a %s', (_, bytes, hash) => {
    expect(sha256(bytes ?? '')).toBe(hash);
  });

  it('hold for sizes, for hashes of bodies and for hashes of paths', () => {
    const sizes = [genesis.at(-2), genesis.at(-1), first, second].map((bytes) => bytes?.length);
    expect(sizes).toEqual([48_476, 269, 80, 166]);
    expect(bodyHashOf(body)).toBe(
      'sha256-aa1237b773c38dbddef583c4868aaea7a44c5237ea7923aecca5513764b42d80',
    );
    const pathHash = sha256('/a.md');
    expect(pathHash).toBe('1dcfc3ccd7bd35720bfad027ac2b7760a5b502c14404584d8ecdc7f77e566007');
    expect(shardOf(pathHash)).toBe(0x1d);
  });
});

describe('createGenesis()', () => {
  it('makes 258 objects, and none when it runs again', async () => {
    const { bucket } = await emptyWorld();
    expect(await keysOf(bucket)).toHaveLength(258);
    const before = await bucket.head(HEAD_KEY);
    await createGenesis(bucket, WORLD);
    expect(await keysOf(bucket)).toHaveLength(258);
    expect(await bucket.head(HEAD_KEY)).toEqual(before);
  });

  it('finishes what was begun, and refuses other worlds and other things', async () => {
    const bucket = createMemoryBucket({ timing: new ManualClock() });
    for (const { key, bytes } of genesisObjects(WORLD).slice(0, 100)) {
      await bucket.create(key, bytes);
    }
    await createGenesis(bucket, WORLD);
    expect(await keysOf(bucket)).toHaveLength(258);
    const other = WORLD.replace('5', '6');
    const refused = { code: 'precondition' };
    expect(await failureOf(createGenesis(bucket, other))).toMatchObject(refused);
    const strange = createMemoryBucket({ timing: new ManualClock() });
    await strange.create('strange', Buffer.from('thing'));
    expect(await failureOf(createGenesis(strange, WORLD))).toMatchObject(refused);
  });
});

describe('an old replica', () => {
  it('writes, appends and reads back', async () => {
    const { clock, open } = await emptyWorld();
    const replica = await open();
    const work = async () => {
      await replica.publish('/a.md', '# A', { metadata: new Map([['tags', 'x, y']]), expected: 0 });
      await replica.append('/a.md', 'more\n', 1);
      expect(await replica.publish('/a.md', '# A\nmore\n', { metadata: two })).toEqual({
        sequence: null,
        version: 2,
      });
    };
    const two = new Map([
      ['tags', 'x,y'],
      ['type', 'Document'],
    ]);
    await clock.run(work());
    const found = await (await open()).document('/a.md');
    expect(found?.versions.map(({ version, metadata }) => [version, metadata])).toEqual([
      [1, new Map([['tags', 'x,y']])],
      [2, two],
    ]);
    expect(Buffer.from(found?.versions[1]?.body ?? []).toString()).toBe('# A\nmore\n');
    expect(found?.catalog.title).toBe('A');
  });

  it('refuses what the old store refused', async () => {
    const { clock, open } = await emptyWorld();
    const replica = await open();
    const work = async () => {
      await replica.publish('/a.md', '# A\n');
      await replica.publish('/b.md', '# B\n');
      await replica.archive('/b.md');
      const codes = [];
      for (const refused of [
        () => replica.publish('/a.md', 'x', { expected: 0 }),
        () => replica.publish('/a.md/b.md', 'x'),
        () => replica.publish('/b.md/c.md', 'x'),
        () => replica.publish('/b.md', 'x'),
        () => replica.publish('/b.md', 'x', { expected: 7 }),
        () => replica.append('/c.md', 'x', 1),
        () => replica.publish('/../d.md', 'x'),
        () => replica.publish('/d.md', 'x', { metadata: new Map([['version', '1']]) }),
        () => replica.archive('/d.md'),
      ]) {
        const { code } = (await failureOf(refused())) as { readonly code: string };
        codes.push(code);
      }
      return codes;
    };
    expect(await clock.run(work())).toEqual([
      'conflict',
      'collision',
      'collision',
      'archived',
      'conflict',
      'not-found',
      'not-found',
      'invalid',
      'not-found',
    ]);
  });

  it('creates five objects for a document, three to archive it, none to unarchive it', async () => {
    const { bucket, clock, open } = await emptyWorld();
    const replica = await open();
    const counts = [(await keysOf(bucket)).length];
    const work = async () => {
      for (const act of [
        () => replica.publish('/a.md', '# A\n'),
        () => replica.archive('/a.md'),
        () => replica.archive('/a.md'),
        () => replica.unarchive('/a.md'),
      ]) {
        await act();
        counts.push((await keysOf(bucket)).length);
      }
    };
    await clock.run(work());
    const made = counts.slice(1).map((count, index) => count - (counts[index] ?? 0));
    expect(made).toEqual([5, 3, 0, 0]);
    expect(replica.snapshot.head.receipts.map(({ change }) => change?.op)).toEqual([
      'publish',
      'archive',
      'publish',
    ]);
  });

  it('cuts a pruned history inside its first block, and keeps the rest by reference', async () => {
    const world = new OldWorld({ seed: SEED, documents: 80, fixtures: true });
    const [long] = world.ofKind('long');
    const { path = '' } = long ?? {};
    const clock = new ManualClock();
    const bucket = createMemoryBucket({ timing: clock });
    await world.writeTo(bucket);
    const { worldId } = world;
    const options = { worldId, timing: clock, chance: new SeededRandom(1) };
    const replica = await OldReplica.open(bucket, options);
    const metadata = new Map([['retention', '200']]);
    await clock.run(replica.publish(path, '# Cut\n', { metadata, expected: 300 }));
    const cut = await (await OldReplica.open(bucket, options)).document(path);
    expect(cut?.versions.map(({ version }) => version)).toEqual(
      Array.from({ length: 200 }, (_, index) => 102 + index),
    );
    const hashes = long?.versions.slice(101).map(({ hash }) => hash);
    expect(cut?.versions.slice(0, -1).map(({ hash }) => hash)).toEqual(hashes);
  });

  it('waits 1.5 s between two attempts at the head', async () => {
    const { clock, open } = await emptyWorld();
    const replica = await open();
    const start = clock.monotonic();
    const work = async () => {
      for (let i = 0; i < 5; i++) await replica.publish(`/${i}.md`, '# N\n');
    };
    await clock.run(work());
    expect(clock.monotonic() - start).toBe(4 * PACE_MS);
  });

  it('refuses the marker of schema 2, on opening and when it meets it', async () => {
    const { bucket, clock, open } = await emptyWorld();
    const replica = await open();
    const marker = encodeMarker(genesisMarker(WORLD, WORLD));
    const head = await bucket.head(HEAD_KEY);
    await bucket.replace(HEAD_KEY, head.found ? head.attributes.generation : '', marker);
    const before = await keysOf(bucket);
    const refused = { code: 'integrity', object: HEAD_KEY };
    expect(await failureOf(open())).toMatchObject(refused);
    const write = (): Promise<unknown> => clock.run(replica.publish('/a.md', '# A\n'));
    expect(await failureOf(write())).toMatchObject(refused);
    expect(await failureOf(write())).toMatchObject(refused);
    expect(await keysOf(bucket)).toEqual(before);
  });

  it('refuses another world, no world, and a world that lacks a shard', async () => {
    const { bucket, clock, random, open } = await emptyWorld();
    const worldId = WORLD.replace('5', '6');
    const other = OldReplica.open(bucket, { worldId, timing: clock, chance: random });
    expect(await failureOf(other)).toMatchObject({ code: 'precondition' });
    const [shard] = (await bucket.list({ prefix: `${PREFIX}index/7f/`, limit: 1 })).objects;
    await bucket.delete(shard?.key ?? '');
    expect(await failureOf(open())).toMatchObject({ code: 'integrity', object: shard?.key });
    await bucket.delete(HEAD_KEY);
    expect(await failureOf(open())).toMatchObject({ code: 'not-found' });
  });
});

describe('old replicas that race', () => {
  const seeds = Array.from({ length: 6 }, (_, index) => index + 1);
  it.each(seeds)('lose nothing, however their calls interleave (seed %i)', async (seed) => {
    const { bucket, clock, open } = await emptyWorld();
    const schedule = new Schedule({ source: new SeededRandom(seed), clock });
    let lost = 0;
    const replace = bucket.replace.bind(bucket);
    bucket.replace = async (...call) => {
      const result = await replace(...call);
      if (result.outcome === 'changed') lost++;
      return result;
    };
    const raced = await Promise.all([
      schedule.run(OldReplica.open(withSchedule(bucket, schedule), optionsOf(clock, seed))),
      schedule.run(OldReplica.open(withSchedule(bucket, schedule), optionsOf(clock, -seed))),
    ]);
    const sequences: (number | null)[] = [];
    const write = async (replica: OldReplica, name: string): Promise<void> => {
      for (let i = 0; i < 4; i++) {
        const own = await replica.publish(`/${name}-${i}.md`, `# ${name}\n`);
        const both = await replica.publish('/both.md', `# ${name} ${i}\n`);
        sequences.push(own.sequence, both.sequence);
      }
    };
    await schedule.run(Promise.all(raced.map((replica, index) => write(replica, `r${index}`))));
    expect(sequences.toSorted((a, b) => (a ?? 0) - (b ?? 0))).toEqual(
      Array.from({ length: 16 }, (_, index) => index + 2),
    );
    expect(lost).toBeGreaterThan(0);
    const reader = await open();
    expect(reader.snapshot.documentCount).toBe(9);
    expect((await reader.document('/both.md'))?.versions).toHaveLength(8);
  });
});

function optionsOf(clock: ManualClock, seed: number) {
  return { worldId: WORLD, timing: clock, chance: new SeededRandom(seed) };
}

describe('an old replica whose head is uncertain', () => {
  const isHead = (key: string): boolean => key === HEAD_KEY;

  it('finds its own commit when the answer was lost, and commits it once', async () => {
    const { bucket, clock, open } = await emptyWorld();
    const rule = { operation: 'replace', key: isHead, fault: lostAnswer } as const;
    const faulty = withFaults(bucket, [rule], { timing: clock });
    const replica = await open(faulty.store);
    expect(await clock.run(replica.publish('/a.md', '# A\n'))).toEqual({ sequence: 2, version: 1 });
    expect(faulty.hits()).toEqual([1]);
    expect((await open()).snapshot.head.sequence).toBe(2);
  });

  it('tries again what did not take effect, and gives up after 12 attempts', async () => {
    const { bucket, clock, open } = await emptyWorld();
    const times = ATTEMPTS_MAX + 1;
    const rule = { operation: 'replace', key: isHead, fault: unavailable(), times } as const;
    const faulty = withFaults(bucket, [rule], { timing: clock });
    const replica = await open(faulty.store);
    const failed = failureOf(clock.run(replica.publish('/a.md', '# A\n')));
    expect(await failed).toMatchObject({ code: 'exhausted' });
    expect(await clock.run(replica.publish('/a.md', '# A\n'))).toEqual({ sequence: 2, version: 1 });
    expect(faulty.hits()).toEqual([times]);
  });

  it.each([
    [RECEIPTS_MAX - 1, { sequence: 2, version: 1 }],
    [RECEIPTS_MAX, { code: 'evicted' }],
  ])('knows its commit after %i others, if the window still tells of it', async (others, told) => {
    const { bucket, clock, open } = await emptyWorld();
    const rule = { operation: 'replace', key: isHead, fault: lostAnswer } as const;
    const faulty = withFaults(bucket, [rule], { timing: clock });
    const busy = await open();
    // The others commit before it looks at the head again.
    const late = {
      operation: 'head',
      key: isHead,
      skip: 1,
      fault: { kind: 'delay', beforeMs: 3_600_000 },
    } as const;
    faulty.add(late);
    const replica = await open(faulty.store);
    const pending = replica.publish('/a.md', '# A\n').catch((error: unknown) => error);
    const work = async () => {
      await clock.sleep(PACE_MS);
      for (let i = 0; i < others; i++) await busy.publish(`/${i}.md`, '# N\n');
    };
    await clock.run(work());
    expect(await clock.run(pending)).toMatchObject(told);
    expect(faulty.hits()).toEqual([1, 1]);
  });
});

describe('change blocks of a replica', () => {
  it('hold seven receipts in block 0 and eight in the others', async () => {
    const { bucket, clock, open } = await emptyWorld();
    const replica = await open(bucket, true);
    const work = async () => {
      for (let i = 0; i < 25; i++) await replica.publish('/a.md', `# ${i}\n`);
    };
    await clock.run(work());
    const counts = [];
    for (let block = 0; block < 4; block++) {
      const found = await bucket.get(changeKey(block));
      if (!found.found) continue;
      counts.push(decodeChangeBlock(block, changeKey(block), found.bytes).receipts.length);
    }
    expect(counts).toEqual([7, 8, 8]);
  });

  it('are made up for within the window, and missing for good after it', async () => {
    const { bucket, clock, open } = await emptyWorld();
    const fail = (block: number, times: number) =>
      ({
        operation: 'create',
        key: (key: string) => key === changeKey(block),
        fault: unavailable(),
        times,
      }) as const;
    // `createSame` asks five times for each of the commits that could still keep a block.
    const faulty = withFaults(bucket, [fail(0, 5), fail(1, 5 * 10)], { timing: clock });
    const replica = await open(faulty.store, true);
    const work = async () => {
      for (let i = 0; i < 33; i++) await replica.publish('/a.md', `# ${i}\n`);
    };
    await clock.run(work());
    const kept = (await keysOf(bucket)).filter((key) => key.startsWith(`${PREFIX}changes/`));
    expect(kept).toEqual([0, 2, 3].map(changeKey));
    expect(faulty.hits()[0]).toBe(5);
  });
});
