/**
 * Values that the format's tests encode: hand-made ones, and arbitraries of everything that is
 * valid.
 */
import fc from 'fast-check';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { type Sequence, sequence } from '../../bucketstore/base/sequence.ts';
import { type Metadata, normaliseMetadata } from '../../bucketstore/document/metadata.ts';
import { agentOf } from '../../bucketstore/log/entry-rules.ts';
import type {
  ArchiveEntry,
  ControlEntry,
  Entry,
  MutationEntry,
  WriteEntry,
} from '../../bucketstore/log/records.ts';
import type { SlotBody, SlotInput } from '../../bucketstore/log/slot.ts';

export const WORLD = '11111111-1111-4111-8111-111111111111';
export const INCARNATION = '22222222-2222-4222-9222-222222222222';
export const STORE = '33333333-3333-4333-a333-333333333333';

/** A UUID that shows its number. */
export function uuidOf(n: number): string {
  return `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
}

/** A hash that shows its number. */
export function hashOf(n: number): string {
  return n.toString(16).padStart(64, '0');
}

/** A write, staged unless it is told otherwise; change what a test is about. */
export function write(n: number, change: Partial<WriteEntry> = {}): WriteEntry {
  return {
    kind: 'write',
    op: uuidOf(n),
    verb: 'publish',
    path: `/doc-${n}.md`,
    version: 1,
    first: 1,
    bodyHash: hashOf(n),
    modified: 1_790_000_000,
    catalog: { title: `Document ${n}`, metadata: null },
    at: { epoch: 1 },
    storedHash: hashOf(n + 1_000_000),
    ...change,
  };
}

/** A write and the bytes it inlines. */
export function inlined(n: number, text: string, change: Partial<WriteEntry> = {}): WriteEntry {
  return write(n, { at: 'slot', storedHash: sha256Hex(text), ...change });
}

export function archive(n: number, change: Partial<ArchiveEntry> = {}): ArchiveEntry {
  const path = `/doc-${n}.md`;
  return { kind: 'archive', op: uuidOf(n), path, version: 3, first: 2, archived: true, ...change };
}

/** A slot around entries; `texts` are the inlined stored versions, in order. */
export function slotInput(
  entries: readonly Entry[],
  texts: readonly string[] = [],
  change: Partial<SlotInput> = {},
): SlotInput {
  const first = change.first ?? sequence(2);
  return {
    worldId: WORLD,
    incarnationId: INCARNATION,
    first,
    store: STORE,
    time: 1_790_000_000_123,
    documents: 1,
    prev: hashOf(7),
    epoch: 1,
    entries,
    bodies: bodiesOf(
      first,
      entries,
      texts.map((text) => new TextEncoder().encode(text)),
    ),
    ...change,
  };
}

/** Inlined bytes at the sequences of the entries that inline. */
function bodiesOf(
  first: Sequence,
  entries: readonly Entry[],
  bytes: readonly Uint8Array[],
): SlotBody[] {
  const inlining = [...entries.entries()].filter(([, e]) => e.kind === 'write' && e.at === 'slot');
  return inlining.flatMap(([index], item) => {
    const found = bytes[item];
    return found === undefined ? [] : [{ sequence: sequence(first + index), bytes: found }];
  });
}

const hex = fc.stringMatching(/^[0-9a-f]{64}$/);
const uuid = fc.uuid();
const count = fc.integer({ min: 1, max: 2_147_483_647 });
const seconds = fc.integer({ min: 0, max: 253_402_300_799 });
const epochs = fc.integer({ min: 1, max: 0xffff_ffff });
const line = fc.string({ unit: 'binary', maxLength: 40 }).filter((text) => !/[\r\n]/.test(text));
const segment = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .map((text) => text.replace(/[/\p{Cc}]/gu, '-'))
  .filter((text) => text !== '.' && text !== '..');
const path = fc
  .array(segment, { minLength: 1, maxLength: 4 })
  .map((names) => `/${names.join('/')}`);
const metadataKey = fc
  .oneof(
    fc.constantFrom('title', 'tags', 'type', 'agent', '10', '9'),
    fc.stringMatching(/^[a-z0-9-]{1,8}$/),
  )
  .filter((key) => !['version', 'archived', 'retention'].includes(key));
const metadata: fc.Arbitrary<Metadata | null> = fc
  .dictionary(metadataKey, line, { maxKeys: 6, noNullPrototype: false })
  .filter((map) => Buffer.byteLength(JSON.stringify(map)) < 800)
  .map((map) => normaliseMetadata(map));

/** A write whose stored version has these bytes when it inlines them. */
function anyWrite(epoch: number): fc.Arbitrary<{ entry: WriteEntry; bytes: Uint8Array | null }> {
  const fields = fc.record({
    verb: fc.constantFrom('publish' as const, 'append' as const),
    path,
    versions: fc.tuple(count, count),
    bodyHash: hex,
    storedHash: hex,
    modified: seconds,
    title: fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
    metadata,
    bytes: fc.option(fc.uint8Array({ minLength: 1, maxLength: 300 })),
    op: uuid,
  });
  return fields.map(({ versions, title, metadata: map, bytes, storedHash, ...rest }) => {
    const agent = agentOf(map);
    const entry: WriteEntry = {
      kind: 'write',
      ...rest,
      version: Math.max(...versions),
      first: Math.min(...versions),
      catalog: { title, metadata: map },
      at: bytes === null ? { epoch } : 'slot',
      storedHash: bytes === null ? storedHash : sha256Hex(bytes),
      ...(agent === undefined ? {} : { agent }),
    };
    return { entry, bytes };
  });
}

const anyArchive: fc.Arbitrary<{ entry: MutationEntry; bytes: null }> = fc
  .record({ op: uuid, path, version: count, archived: fc.boolean(), agent: fc.option(line) })
  .map(({ agent, ...rest }) => {
    const known = agent === null || agent === '' ? {} : { agent };
    return { entry: { kind: 'archive', first: 1, ...rest, ...known }, bytes: null };
  });

function anyControl(first: number, epoch: number): fc.Arbitrary<ControlEntry> {
  const before = fc.integer({ min: 1, max: first - 1 }).map(sequence);
  const kept = fc
    .uniqueArray(before, { minLength: 1, maxLength: 4 })
    .map((list) => list.sort((a, b) => a - b).map((at) => [at, epoch] as const));
  const id = fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/);
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 });
  const floor = before.map((mutation) => ({ at: sequence(mutation + 1), mutation }));
  return fc.oneof(
    fc
      .record({ kind: fc.constant('floor' as const), op: uuid, floor })
      .map(({ floor: f, ...r }) => ({ ...r, ...f })),
    fc.record({ kind: fc.constant('barrier' as const), op: uuid, plan: hex, kept }),
    fc.record({
      kind: fc.constant('barrier' as const),
      op: uuid,
      plan: hex,
      kept,
      schema1: fc.constant(true as const),
    }),
    fc.record({ kind: fc.constant('clear' as const), op: uuid, plan: hex }),
    fc.record({ kind: fc.constant('pin' as const), op: uuid, id, owner: text, expires: seconds }),
    fc.record({ kind: fc.constant('unpin' as const), op: uuid, id }),
    fc.record({
      kind: fc.constant('seal' as const),
      op: uuid,
      reason: fc.constantFrom('rollback' as const, 'closed' as const),
    }),
    fc.record({
      kind: fc.constant('seal' as const),
      op: uuid,
      reason: fc.constant('move' as const),
      successor: uuid,
      location: text,
    }),
  );
}

/**
 * Groups over mutations: each number makes a group of the entries from there, when they are there.
 */
function grouped(entries: readonly MutationEntry[], sizes: readonly number[]): MutationEntry[] {
  const result = [...entries];
  let at = 0;
  for (const size of sizes) {
    const head = result[at];
    if (size >= 2 && head !== undefined && at + size <= result.length) {
      result[at] = { ...head, group: size };
      at += size;
    } else {
      at += 1;
    }
  }
  return result;
}

/** Any valid slot, as its committer would hand it in. */
export const anySlot: fc.Arbitrary<SlotInput> = fc
  .record({
    first: fc.oneof(fc.integer({ min: 2, max: 1000 }), fc.integer({ min: 2, max: 2 ** 53 - 300 })),
    epoch: epochs,
    time: fc.integer({ min: 0, max: 2 ** 53 - 1 }),
    documents: fc.integer({ min: 0, max: 16_777_216 }),
    prev: hex,
    ids: fc.tuple(uuid, uuid, uuid),
  })
  .chain(({ first, epoch, ids: [worldId, incarnationId, store], ...rest }) => {
    const frame = { ...rest, worldId, incarnationId, store, first: sequence(first), epoch };
    const members = fc.uniqueArray(fc.oneof(anyWrite(epoch), anyArchive), {
      minLength: 1,
      maxLength: 12,
      selector: ({ entry }) => entry.op,
    });
    const mutations = fc
      .tuple(members, fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 6 }))
      .map(([list, sizes]): SlotInput => {
        const entries = grouped(
          list.map(({ entry }) => entry),
          sizes,
        );
        const bytes = list.flatMap((member) => (member.bytes === null ? [] : [member.bytes]));
        return { ...frame, entries, bodies: bodiesOf(frame.first, entries, bytes) };
      });
    const control = anyControl(first, epoch).map(
      (entry): SlotInput => ({ ...frame, entries: [entry], bodies: [] }),
    );
    return fc.oneof({ weight: 3, arbitrary: mutations }, { weight: 1, arbitrary: control });
  });
