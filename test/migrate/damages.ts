/**
 * Damage for decoders of JSON: each field of an object dropped, repeated, moved, retyped, nulled,
 * changed by one step, and joined by one that is unknown. Members stay in their order.
 */

/** JSON as it is spelled: members in order, and as often as they come. */
type Tree = string | { items: Tree[] } | { members: [name: string, value: Tree][] };
type Container = Exclude<Tree, string>;

/** An object with one thing wrong. */
export interface Damage {
  /** `drop receipts[0].path` */
  readonly what: string;
  /** The damaged object. */
  readonly text: () => string;
}

/** Every damage of every place of an object, which is not spelled before it is asked for. */
export function damagesOf(text: string): Damage[] {
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
