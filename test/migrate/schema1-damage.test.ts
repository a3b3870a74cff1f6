/**
 * Goal: no object of schema 1 with one field damaged passes for a good one. Method: every place of
 * a good object of each kind, damaged in every way below, by a fixed seed where they are too many.
 * Under its old key, an object addressed by its hash is always refused. Under the key that its new
 * bytes have, as if somebody had written it so, it is refused unless the damage makes another good
 * object, and which those are is listed; then it says what was put in.
 */
import { describe, expect, test } from 'vitest';
import { isStoreError } from '../../bucketstore/base/errors.ts';
import { refusal } from '../log/forge.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import {
  CHANGES,
  HEAD,
  HISTORY,
  KINDS,
  type Kind,
  MANIFEST,
  ROOT,
  refused,
  SHARD_KIND,
} from './schema1-values.ts';

/** JSON as it is spelled: members in order, and as often as they come. */
type Tree = string | { items: Tree[] } | { members: [name: string, value: Tree][] };
type Container = Exclude<Tree, string>;

interface Damage {
  /** `drop receipts[0].path` */
  readonly what: string;
  /** The damaged object. */
  readonly text: () => string;
}

/** Only a root, with its 256 shards, has more places than these. */
const DAMAGES_MAX = 2000;
const SAMPLE = 200;

/** What may be done to a kind of object without making it wrong. */
const HARMLESS: ReadonlyMap<Kind, RegExp> = new Map([
  [
    HEAD,
    /^(change (world_id|receipts\[\d+\]\.(operation_id|path|agent|version|hash))|drop receipts\[\d+\]\.agent)$/,
  ],
  [
    CHANGES,
    /^(change receipts\[\d+\]\.(operation_id|path|agent|version|hash)|drop receipts\[\d+\]\.agent)$/,
  ],
  [ROOT, /^change document_count$/],
  [
    SHARD_KIND,
    // The first has no metadata, so its title is its own.
    /^(drop entries\[\d\]|change entries\[\d\]\.(current|archived|body_hash|catalog\.metadata\.owner)|change entries\[0\]\.catalog\.title|drop entries\[\d\]\.catalog\.metadata\.(owner|title))$/,
  ],
  [MANIFEST, /^(change (archived|history\[0\]\.first)|drop history\[0\])$/],
  [HISTORY, /^change (path_hash|entries\[\d\]\.(body_hash|modified))$/],
]);

describe.each(KINDS.map((kind) => [kind.name, kind] as const))('a damaged %s', (_, kind) => {
  const text = Buffer.from(kind.bytes).toString();
  const all = damagesOf(text);
  const random = new SeededRandom(1);
  const damages =
    all.length <= DAMAGES_MAX ? all : Array.from({ length: SAMPLE }, () => random.pick(all));
  const harmless = HARMLESS.get(kind) ?? /^$/;

  test('is damaged in many ways', () => {
    expect(spell(treeOf(JSON.parse(text)))).toBe(text);
    expect(damages.length).toBeGreaterThan(150);
    expect(damages.filter((damage) => damage.text() === text)).toEqual([]);
    const ways = new Set(damages.map(({ what }) => what.split(' ')[0]));
    expect([...ways].sort()).toEqual(['add', 'change', 'drop', 'null', 'repeat', 'retype', 'swap']);
  });

  test('is refused, or says just what was put in', () => {
    const found = new Set<string>();
    for (const damage of damages) {
      const bytes = Buffer.from(damage.text());
      const under = kind.keyOf(bytes);
      if (!harmless.test(damage.what)) {
        expect(refused(kind, damage.text()), damage.what).not.toBe('');
        continue;
      }
      // A change within what is harmless may go too far: `56Z` to `56[`.
      const decoded = answer(() => kind.decode(under, bytes));
      if (decoded === undefined) continue;
      found.add(damage.what);
      expect(Buffer.from(kind.encode(decoded as never)).toString(), damage.what).toBe(
        damage.text(),
      );
    }
    // None is on the list for nothing.
    const listed = new Set(all.map(({ what }) => what).filter((what) => harmless.test(what)));
    if (damages === all) expect([...found].sort()).toEqual([...listed].sort());
  });
});

const addressed = KINDS.filter(
  (kind) => kind.keyOf(Buffer.from('other')) !== kind.keyOf(kind.bytes),
);

describe.each(addressed.map((kind) => [kind.name, kind] as const))('a damaged %s', (_, kind) => {
  test('is refused under the key of the good one, harmless or not', () => {
    const random = new SeededRandom(2);
    const damages = damagesOf(Buffer.from(kind.bytes).toString());
    for (let i = 0; i < SAMPLE; i++) {
      const key = kind.keyOf(kind.bytes);
      refusal(key, () => kind.decode(key, Buffer.from(random.pick(damages).text())));
    }
  });
});

function answer(decode: () => unknown): unknown {
  try {
    return decode();
  } catch (error) {
    if (isStoreError(error) && error.code === 'INTEGRITY') return undefined;
    throw error;
  }
}

/** Every damage of every place. */
function damagesOf(text: string): Damage[] {
  const damages: Damage[] = [];
  const tree = treeOf(JSON.parse(text));
  const damage = (what: string, change: () => () => void) => {
    const text = () => {
      const restore = change();
      const damaged = spell(tree);
      restore();
      return damaged;
    };
    damages.push({ what, text });
  };
  const visit = (container: Container, path: string) => {
    const list: unknown[] = 'items' in container ? container.items : container.members;
    const replaced = (next: readonly unknown[]) => () => {
      const before = [...list];
      list.splice(0, list.length, ...next);
      return () => void list.splice(0, list.length, ...before);
    };
    if ('members' in container) {
      const extra = ['extra', '1'];
      damage(`add ${path}`, replaced([extra, ...list]));
      damage(`add ${path}`, replaced([...list, extra]));
    }
    for (const [index, item] of [...list].entries()) {
      const [name, value] = Array.isArray(item) ? (item as [string, Tree]) : [null, item as Tree];
      const at = name === null ? `${path}[${index}]` : path === '' ? name : `${path}.${name}`;
      const without = list.toSpliced(index, 1);
      damage(`drop ${at}`, replaced(without));
      damage(`repeat ${at}`, replaced(list.toSpliced(index, 0, item)));
      if (index > 0) damage(`swap ${at}`, replaced(without.toSpliced(index - 1, 0, item)));
      const put = (with_: Tree) =>
        replaced(list.with(index, name === null ? with_ : [name, with_]));
      damage(`null ${at}`, put('null'));
      for (const other of otherTypes(value)) damage(`retype ${at}`, put(other));
      for (const other of neighbours(value)) damage(`change ${at}`, put(other));
      if (typeof value !== 'string') visit(value, at);
    }
  };
  visit(tree as Container, '');
  return damages;
}

/** Values of every other type. */
function otherTypes(value: Tree): string[] {
  const kindOf = (text: string) => (/^[-0-9]/.test(text) ? '0' : text.charAt(0));
  const own = typeof value !== 'string' ? spell(value).charAt(0) : kindOf(value);
  const isBoolean = value === 'true' || value === 'false';
  return ['"text"', '7', '1.5', 'true', '[]', '{}', '[[]]'].filter((text) => {
    if (text === '1.5') return true;
    return kindOf(text) !== own && !(isBoolean && text === 'true');
  });
}

/** Values of the same type, one step away. */
function neighbours(value: Tree): string[] {
  if (typeof value !== 'string') return [];
  if (value === 'true') return ['false'];
  if (value === 'false') return ['true'];
  if (!value.startsWith('"')) return [String(Number(value) + 1), String(Number(value) - 1)];
  const text = JSON.parse(value) as string;
  if (text === '') return ['"x"'];
  const last = text.length - 1;
  const next = text.slice(0, last) + String.fromCharCode(text.charCodeAt(last) + 1);
  const digit = text.replace(/[0-8](?=[^0-8]*$)/, (found) => String(Number(found) + 1));
  return [...new Set([next, digit])].filter((one) => one !== text).map((one) => `"${one}"`);
}

function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return { items: value.map(treeOf) };
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return { members: Object.entries(value).map(([name, member]) => [name, treeOf(member)]) };
}

function spell(tree: Tree): string {
  if (typeof tree === 'string') return tree;
  if ('items' in tree) return `[${tree.items.map(spell).join(',')}]`;
  return `{${tree.members.map(([name, value]) => `"${name}":${spell(value)}`).join(',')}}`;
}
