/**
 * The values behind the golden files of format 1. They never change: a new case is a new file, and
 * a changed format a new folder.
 */
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { CheckpointRecord, Entry, Marker, WriteEntry } from '../../bucketstore/log/records.ts';
import type { SlotBody, SlotInput } from '../../bucketstore/log/slot.ts';

const WORLD = '52b471f7-8d38-4c89-b44a-6f4f8b1a4f48';
const LIFE = '0d5e3c1a-77aa-4a51-9f0e-3a3c5a2b9e10';
const STORE = '9a1f6c2e-0b7d-4e55-8c33-d1c7a9e4b601';
const PLAN = sha256Hex('plan');

function op(n: number): string {
  return `7c9e6679-7425-40de-944b-e07fc1f9${n.toString(16).padStart(4, '0')}`;
}

/** A stored version: front matter and body, as a document of that metadata has it. */
function stored(
  version: number,
  lines: readonly string[],
  body: string,
  previous?: string,
): string {
  const chain = previous === undefined ? [] : [`previous-hash: sha256-${sha256Hex(previous)}`];
  const front = [`version: ${version}`, 'archived: false', ...chain, ...lines];
  return `---\n${front.join('\n')}\n---\n${body}`;
}

const HELLO_1 = stored(1, ['type: Document'], '# Hello\n');
const HELLO_2 = stored(2, ['type: Document'], '# Hello\nmore\n', HELLO_1);
const CAFE = stored(
  1,
  [
    'meta.agent: Zoë',
    'meta.importance: 0.75',
    'tags: [naïve, topic:été, 日本]',
    'title: Café "№ 1" \\ <b>',
  ],
  'Ünïcödé 🜁 body\r\nwithout heading',
);

function writing(n: number, change: Partial<WriteEntry> & { readonly text?: string }): WriteEntry {
  const { text, ...fields } = change;
  const body = text?.slice(text.indexOf('\n---\n') + 5) ?? '';
  return {
    kind: 'write',
    op: op(n),
    verb: 'publish',
    path: '/hello.md',
    version: 1,
    first: 1,
    bodyHash: sha256Hex(body),
    modified: 1_787_400_000,
    catalog: { title: 'Hello', metadata: { type: 'Document' } },
    at: text === undefined ? { epoch: 1 } : 'slot',
    storedHash: sha256Hex(text ?? ''),
    ...fields,
  };
}

function slot(
  entries: readonly Entry[],
  texts: readonly string[],
  change: Partial<SlotInput> = {},
): SlotInput {
  const first = change.first ?? sequence(2);
  let next = 0;
  const bodies = entries.flatMap((entry, index): SlotBody[] => {
    if (entry.kind !== 'write' || entry.at !== 'slot') return [];
    const bytes = new TextEncoder().encode(texts[next++] ?? '');
    return [{ sequence: sequence(first + index), bytes }];
  });
  return {
    worldId: WORLD,
    incarnationId: LIFE,
    first,
    store: STORE,
    time: 1_787_400_000_250,
    documents: 1,
    prev: sha256Hex('before'),
    epoch: 1,
    entries,
    bodies,
    ...change,
  };
}

const control = (entry: Entry): SlotInput => slot([entry], [], { first: sequence(5000), epoch: 3 });

export const GOLDEN_MARKERS: { readonly [file: string]: Marker } = {
  'marker-genesis.json': {
    worldId: WORLD,
    incarnationId: LIFE,
    start: { sequence: sequence(1), documents: 0, epoch: 1, root: null },
  },
  'marker-migrated.json': {
    worldId: WORLD,
    incarnationId: WORLD,
    start: {
      sequence: sequence(9_007_199_254_740_000),
      documents: 16_777_216,
      epoch: 4_294_967_295,
      root: { epoch: 4_294_967_295, hash: sha256Hex('root') },
    },
  },
};

const FIRST_CHECKPOINT: CheckpointRecord = {
  worldId: WORLD,
  incarnationId: LIFE,
  sequence: sequence(1024),
  slot: sha256Hex('slot'),
  time: 1_787_400_000_250,
  documents: 900,
  epoch: 1,
  floor: { at: sequence(2), mutation: sequence(1) },
  mutation: sequence(1024),
  plan: null,
  kept: [],
  schema1: false,
  pins: [],
  swept: { plan: null, pruned: 0, retained: 1023 },
  successor: null,
  root: { epoch: 1, hash: sha256Hex('root') },
};
const SWEPT_CHECKPOINT: CheckpointRecord = {
  ...FIRST_CHECKPOINT,
  sequence: sequence(9_007_199_254_740_991),
  epoch: 4,
  floor: { at: sequence(4097), mutation: sequence(4095) },
  mutation: sequence(9_007_199_254_740_990),
  kept: [
    [sequence(1024), 1],
    [sequence(4096), 2],
    [sequence(4096), 3],
  ],
  swept: { plan: sha256Hex('plan before'), pruned: 17, retained: 4000 },
  root: { epoch: 4_294_967_295, hash: sha256Hex('root') },
};

export const GOLDEN_CHECKPOINTS: { readonly [file: string]: CheckpointRecord } = {
  'checkpoint-first.json': FIRST_CHECKPOINT,
  'checkpoint-sweep.json': {
    ...SWEPT_CHECKPOINT,
    plan: PLAN,
    schema1: true,
    pins: [
      ['backup-2026.08', sequence(4999)],
      ['A_b', sequence(5000)],
    ],
  },
  'checkpoint-closed.json': {
    ...SWEPT_CHECKPOINT,
    successor: { op: op(25), reason: 'closed' },
  },
  'checkpoint-moved.json': {
    ...SWEPT_CHECKPOINT,
    successor: {
      op: op(26),
      reason: 'move',
      successor: '3f0c2b7e-9d55-4c1b-a8d4-5a6be0f1c922',
      location: 's3://elsewhere/worlds/hello',
    },
  },
};

export const GOLDEN_SLOTS: { readonly [file: string]: SlotInput } = {
  'inlined.slot': slot(
    [writing(1, { text: HELLO_1 }), writing(2, { text: HELLO_2, verb: 'append', version: 2 })],
    [HELLO_1, HELLO_2],
  ),
  'staged.slot': slot(
    [writing(3, { storedHash: sha256Hex('large'), bodyHash: sha256Hex('body') })],
    [],
  ),
  'metadata.slot': slot(
    [
      writing(4, {
        text: CAFE,
        agent: 'Zoë',
        path: '/menü/café/日本 🜁.md',
        catalog: {
          title: 'Café "№ 1" \\ <b>',
          metadata: {
            importance: '0.75',
            agent: 'Zoë',
            tags: 'naïve,topic:été,日本',
            title: 'Café "№ 1" \\ <b>',
          },
        },
      }),
      writing(5, {
        path: '/10.md',
        catalog: { title: '10.md', metadata: { 9: 'nine', 10: 'ten', a: '\t' } },
      }),
      writing(6, { path: '/nfc-é', catalog: { title: '\u0001\u007f\u2028', metadata: null } }),
      writing(7, {
        path: '/nfd-e\u0301',
        version: 2_147_483_647,
        first: 2_147_483_640,
        modified: 0,
      }),
    ],
    [CAFE],
  ),
  'archive.slot': slot(
    [
      {
        kind: 'archive',
        op: op(8),
        path: '/hello.md',
        version: 2,
        first: 1,
        archived: true,
        agent: 'Zoë',
      },
      { kind: 'archive', op: op(9), path: '/hello.md', version: 2, first: 1, archived: false },
    ],
    [],
  ),
  'group.slot': slot(
    [
      writing(10, { path: '/a.md' }),
      writing(11, { path: '/b.md', text: HELLO_1, group: 3 }),
      { kind: 'archive', op: op(12), path: '/a.md', version: 1, first: 1, archived: true },
      writing(13, { path: '/c.md', text: HELLO_1 }),
      {
        kind: 'archive',
        op: op(14),
        path: '/b.md',
        version: 1,
        first: 1,
        archived: true,
        group: 2,
      },
      writing(15, { path: '/d.md' }),
    ],
    [HELLO_1, HELLO_1],
    { documents: 4 },
  ),
  'floor.slot': control({
    kind: 'floor',
    op: op(16),
    at: sequence(4097),
    mutation: sequence(4096),
  }),
  'barrier.slot': control({
    kind: 'barrier',
    op: op(17),
    plan: PLAN,
    kept: [
      [sequence(1024), 1],
      [sequence(4096), 2],
      [sequence(4096), 3],
    ],
  }),
  'barrier-schema1.slot': control({
    kind: 'barrier',
    op: op(18),
    plan: PLAN,
    kept: [[sequence(4096), 3]],
    schema1: true,
  }),
  'clear.slot': control({ kind: 'clear', op: op(19), plan: PLAN }),
  'pin.slot': control({
    kind: 'pin',
    op: op(20),
    id: 'backup-2026.08',
    owner: 'backup on Zoë’s laptop',
    expires: 1_790_000_000,
  }),
  'unpin.slot': control({ kind: 'unpin', op: op(21), id: 'backup-2026.08' }),
  'seal-closed.slot': control({ kind: 'seal', op: op(22), reason: 'closed' }),
  'seal-rollback.slot': control({ kind: 'seal', op: op(23), reason: 'rollback' }),
  'seal-move.slot': control({
    kind: 'seal',
    op: op(24),
    reason: 'move',
    successor: '3f0c2b7e-9d55-4c1b-a8d4-5a6be0f1c922',
    location: 's3://elsewhere/worlds/hello',
  }),
};
