/**
 * The guarantees of the probe, one function each, in the order in which they are tried. Each check
 * uses names of its own, so that one that fails says nothing about the next.
 */
import { type Bench, Broken, type Check, sameBytes } from './probe-bench.ts';

/** The checks. Advice speaks of what operators have met. */
export const CHECKS: readonly Check[] = [
  {
    name: 'create-if-absent',
    needed: 'always',
    advice: 'the service ignores the condition; use one that honours create-if-absent',
    run: createIfAbsent,
  },
  {
    name: 'concurrent create',
    needed: 'always',
    advice: 'the service checks and stores in two steps; use one that creates atomically',
    run: concurrentCreate,
  },
  {
    name: 'strong reads',
    needed: 'always',
    advice: 'reads may be stale: use the primary, without a cache or replica in between',
    run: strongReads,
  },
  {
    name: 'strong not-found',
    needed: 'always',
    advice: 'absent names are remembered or deleted ones served: take caches out of the way',
    run: strongNotFound,
  },
  {
    name: 'byte-ordered lists',
    needed: 'always',
    advice: 'lists must be complete and in the order of UTF-8 bytes; use another service',
    run: byteOrder,
  },
  {
    name: 'list start offset',
    needed: 'always',
    advice: 'the service mishandles startOffset or StartAfter; use another service or version',
    run: startOffset,
  },
  {
    name: 'range reads',
    needed: 'always',
    advice: 'the service or a proxy ignores the Range header',
    run: rangeReads,
  },
  {
    name: 'delete',
    needed: 'always',
    advice: 'turn off object versioning, retention and holds for this location',
    run: deletes,
  },
  {
    name: 'replace at a generation',
    needed: 'migrate and rollback',
    advice: 'worlds work here, but neither migrate nor rollback does',
    run: replaceAtGeneration,
  },
];

/** Bytes that no other creator of the name sends. */
function marked(text: string): Uint8Array {
  return Buffer.from(`probe ${text}\n`);
}

function demand(condition: boolean, seen: string): asserts condition {
  if (!condition) throw new Broken(seen);
}

async function createIfAbsent(bench: Bench): Promise<string> {
  const first = await bench.create('one', marked('first'));
  demand(first === 'created', 'a create of a fresh name was refused');
  const second = await bench.create('one', marked('second'));
  demand(second === 'exists', 'a second create of the same name was accepted');
  const stored = await bench.get('one');
  demand(stored.found, 'the object was gone after a second create');
  demand(sameBytes(stored.bytes, marked('first')), 'a refused create changed the object');
  return 'the second creator was refused and the first one’s bytes kept';
}

async function concurrentCreate(bench: Bench): Promise<string> {
  const items = Array.from({ length: bench.creators }, (_, i) => marked(`racer ${i}`));
  const { told, stored } = await bench.race('race', items);
  const winners = items.filter((_, i) => told[i] === 'created');
  // A throttled creator may have stored its bytes all the same.
  const open = items.filter((_, i) => told[i] === 'unknown');
  demand(winners.length <= 1, `${winners.length} of ${told.length} creators of one name won`);
  demand(stored.found, 'of several creators some were refused and nothing was stored');
  const owners = winners.length === 1 ? winners : open;
  const owned = owners.some((bytes) => sameBytes(stored.bytes, bytes));
  demand(owned, 'the stored bytes are not the winner’s');
  return `one of ${told.length} creators won`;
}

async function strongReads(bench: Bench): Promise<string> {
  // A read of the absent name first: a cache that remembers it shows in the read after the create.
  await bench.get('read');
  const bytes = marked('read');
  demand((await bench.create('read', bytes)) === 'created', 'a fresh name was refused');
  const read = await bench.get('read');
  demand(read.found, 'an object was not found right after it was created');
  demand(sameBytes(read.bytes, bytes), 'an object was read with other bytes than were stored');
  const head = await bench.head('read');
  demand(head.found && head.attributes.size === bytes.length, 'attributes do not fit the object');
  return 'an object is read right after it was created';
}

async function strongNotFound(bench: Bench): Promise<string> {
  demand(!(await bench.get('absent')).found, 'a name that was never created was found');
  demand(
    (await bench.create('absent', marked('absent'))) === 'created',
    'a fresh name was refused',
  );
  // So that a cache which would serve the deleted object has it.
  await bench.get('absent');
  await bench.delete('absent');
  demand(!(await bench.get('absent')).found, 'a deleted object was still found');
  demand(!(await bench.head('absent')).found, 'a deleted object still had attributes');
  return 'not found before it is created and right after it is deleted';
}

/** Ascending by UTF-8 bytes; case, and code units, would each order them otherwise. */
const LISTED = ['list/B', 'list/a', 'list/\uff21', 'list/\u{1d400}'];
/** Between the first two, and between the last two only in UTF-8. Neither names an object. */
const AFTER_FIRST = 'list/C';
const BEFORE_LAST = 'list/\ufffd';

async function byteOrder(bench: Bench): Promise<string> {
  // Not in order of creation either.
  for (const name of LISTED.toReversed()) {
    demand((await bench.create(name, marked(name))) === 'created', 'a fresh name was refused');
  }
  const { names } = await bench.page('list/', undefined, 1000);
  const missing = LISTED.filter((name) => !names.includes(name));
  demand(missing.length === 0, `a list lacked ${missing.length} objects created before it`);
  demand(sameNames(names, LISTED), `names came in the order ${show(names)}, not ${show(LISTED)}`);
  return 'lists are complete and in the order of UTF-8 bytes';
}

async function startOffset(bench: Bench): Promise<string> {
  for (const name of LISTED) await bench.ensure(name, marked(name));
  await walk(bench, undefined, 2, LISTED);
  await walk(bench, AFTER_FIRST, 2, LISTED.slice(1));
  await walk(bench, BEFORE_LAST, 1000, LISTED.slice(3));
  return 'lists start after the given name, also when it names no object, and pages join up';
}

/** Follows pages to the end; every page but an empty last one must bring something new. */
async function walk(
  bench: Bench,
  start: string | undefined,
  limit: number,
  expected: readonly string[],
): Promise<void> {
  const from = start === undefined ? 'the beginning' : show([start]);
  const seen: string[] = [];
  let after = start;
  for (let more = true; more; ) {
    const page = await bench.page('list/', after, limit);
    demand(page.names.length <= limit, `a page of ${limit} held ${page.names.length} names`);
    demand(
      !page.more || page.names.length > 0,
      `an empty page that was not the last, from ${from}`,
    );
    seen.push(...page.names);
    const upTo = expected.slice(0, seen.length);
    demand(sameNames(seen, upTo), `a list from ${from} gave ${show(seen)}, not ${show(upTo)}`);
    after = page.names.at(-1);
    more = page.more;
  }
  demand(sameNames(seen, expected), `a list from ${from} ended after ${show(seen)}`);
}

async function rangeReads(bench: Bench): Promise<string> {
  const bytes = marked('0123456789');
  demand((await bench.create('range', bytes)) === 'created', 'a fresh name was refused');
  const middle = await bench.get('range', [6, 10]);
  demand(middle.found && sameBytes(middle.bytes, bytes.subarray(6, 10)), 'a range was ignored');
  const end = await bench.get('range', [10, bytes.length + 10]);
  demand(end.found && sameBytes(end.bytes, bytes.subarray(10)), 'a range over the end was wrong');
  return 'ranges are read exactly and clipped at the end';
}

async function deletes(bench: Bench): Promise<string> {
  demand((await bench.create('delete', marked('old'))) === 'created', 'a fresh name was refused');
  await bench.delete('delete');
  demand(!(await bench.get('delete')).found, 'an object was there after it was deleted');
  const { names } = await bench.page('delete', undefined, 1000);
  demand(names.length === 0, 'a deleted object was still listed');
  // Deleting what is not there is success.
  await bench.delete('delete');
  const again = await bench.create('delete', marked('new'));
  demand(again === 'created', 'a deleted name could not be created again');
  return 'objects go, and their names are free again';
}

async function replaceAtGeneration(bench: Bench): Promise<string> {
  demand((await bench.create('replace', marked('a'))) === 'created', 'a fresh name was refused');
  const before = await bench.head('replace');
  demand(before.found, 'an object was not found right after it was created');
  const { generation } = before.attributes;
  const first = await bench.replace('replace', generation, marked('b'));
  demand(first === 'replaced', 'a replace at the current generation was refused');
  const second = await bench.replace('replace', generation, marked('c'));
  demand(second === 'changed', 'a replace at an old generation was accepted');
  const stored = await bench.get('replace');
  demand(stored.found && sameBytes(stored.bytes, marked('b')), 'a replace stored other bytes');
  return 'only the current generation is replaced';
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i]);
}

function show(names: readonly string[]): string {
  return `[${names.map((name) => JSON.stringify(name)).join(', ')}]`;
}
