/**
 * The front matter that authors write, read into metadata by `import` and `put`; never by
 * `publish`. The body keeps the block byte for byte. `fence.ts` says where it ends, and this file
 * what it says:
 *
 * - The block is YAML of the `failsafe` schema, in which every value is text: `no`, `007`, `1.10`,
 *   `11:30` and dates stay what the author wrote. A library reads it because people write all of
 *   YAML there (quotes, lists, folded texts); its version is pinned, and what it found is committed
 *   with the write, so nothing is ever derived from it again.
 * - A block with any error gives no metadata at all, and one problem with its line.
 * - Keys are taken in the author's order, in ASCII lower case. Of repeated keys the first one
 *   counts. What does not fit the metadata rules (a reserved key, other characters, more than 50
 *   keys or 1,024 bytes) is left out with a problem, and the rest is kept.
 * - A text of several lines becomes one line, its breaks spaces; a list becomes its items joined by
 *   commas (`tags`, none of which may hold one) or by `, `, those that hold a comma in quotes.
 *   Maps, lists in lists and aliases are left out with a problem. A key without a value says
 *   nothing.
 */
import {
  Composer,
  type CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  type ParsedNode,
  Parser,
} from 'yaml';
import { FRONT_MATTER_BYTES_MAX, findFrontMatter } from './fence.ts';
import {
  checkMetadata,
  emptyMetadata,
  METADATA_BYTES_MAX,
  METADATA_KEYS_MAX,
  type Metadata,
  normaliseMetadata,
  pairBytes,
} from './metadata.ts';
import { decodeUtf8, trimSpace } from './text.ts';

/**
 * Why something of a front matter block did not become metadata. The document is accepted anyway.
 */
export interface FrontMatterProblem {
  /** Line of the body, the first being 1. */
  readonly line: number;
  /** As the author wrote it; absent when the problem is the block's. */
  readonly key?: string;
  readonly reason: string;
}

/** What a body's front matter says. */
export interface FrontMatter {
  /** Normalised and valid; null when there is none, or nothing of it fits. */
  readonly metadata: Metadata | null;
  /** Where the text below the block begins, in bytes; 0 without a block. */
  readonly bodyStart: number;
  readonly problems: readonly FrontMatterProblem[];
}

/** Reads a leading front matter block. The same bytes always give the same answer; never throws. */
export function readFrontMatter(body: Uint8Array): FrontMatter {
  const fenced = findFrontMatter(body);
  switch (fenced.kind) {
    case 'none':
      return nothing(0);
    case 'unclosed':
      // A thematic break in front of text is no mistake; one in front of keys probably is.
      return fenced.keyed ? nothing(0, { line: 1, reason: whyOpen(fenced.long) }) : nothing(0);
    case 'text':
      return nothing(0, { line: fenced.line, reason: 'is not "key: value", so the block is text' });
    case 'block': {
      const text = decodeUtf8(body.subarray(fenced.start, fenced.end));
      if (text === null) return nothing(fenced.bodyStart, { line: 2, reason: 'is not UTF-8' });
      return readBlock(text, fenced.bodyStart);
    }
    default:
      return fenced satisfies never;
  }
}

function whyOpen(long: boolean): string {
  if (!long) return 'a "---" that is never closed';
  return `a "---" that nothing closes within ${FRONT_MATTER_BYTES_MAX} bytes: too long`;
}

function nothing(bodyStart: number, ...problems: FrontMatterProblem[]): FrontMatter {
  return { metadata: null, bodyStart, problems };
}

/** Lines of the block begin below the opening fence. */
const LINES_ABOVE = 1;

/** Deepest nesting of a block. Nobody writes more than a few levels. */
const NESTING_MAX = 64;

function readBlock(text: string, bodyStart: number): FrontMatter {
  const lines = new LineCounter();
  const lineOf = (offset: number): number => lines.linePos(offset).line + LINES_ABOVE;
  const root = parseBlock(text, lines);
  if (root === null) return nothing(bodyStart);
  if ('reason' in root) {
    return nothing(bodyStart, { line: lineOf(root.offset), reason: root.reason });
  }
  if (!isMap(root)) {
    return nothing(bodyStart, { line: lineOf(root.range[0]), reason: 'is not "key: value"' });
  }
  const taker = new Taker();
  for (const pair of root.items) {
    taker.take(pair, lineOf(pair.key?.range[0] ?? root.range[0]));
  }
  return { metadata: normaliseMetadata(taker.metadata), bodyStart, problems: taker.problems };
}

/** The top of the block's one document, null when it is empty; where it is broken, if it is. */
function parseBlock(
  text: string,
  lines: LineCounter,
): ParsedNode | null | { readonly offset: number; readonly reason: string } {
  const source = sourceOf(text);
  const tokens = [...new Parser(lines.addNewLine).parse(source)];
  // Composing recurses, and a stack that overflows inside it has ended whole processes; parsing
  // does not. A limit also makes the answer independent of how deep the caller's own stack is.
  const deep = firstBeyondNesting(tokens);
  if (deep !== null) return { offset: deep, reason: `nested deeper than ${NESTING_MAX} levels` };
  const composer = new Composer({ schema: 'failsafe', uniqueKeys: false });
  const [document, second] = composer.compose(tokens, true, source.length);
  const error = document?.errors[0];
  if (error !== undefined) return { offset: error.pos[0], reason: error.message };
  if (second !== undefined) return { offset: second.range[0], reason: 'a second YAML document' };
  return document?.contents ?? null;
}

/**
 * The block as the library is to see it, lines with the numbers they had. Its newline may not be a
 * lone CR, and what stays open at the end is reported where the text ends, not on the fence below.
 */
function sourceOf(text: string): string {
  const source = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  let end = source.length;
  while (source[end - 1] === '\n') end--;
  return source.slice(0, end);
}

/** Offset of a token that lies deeper than `NESTING_MAX`; null when none does. Does not recurse. */
function firstBeyondNesting(tokens: readonly CST.Token[]): number | null {
  let level: CST.Token[] = [...tokens];
  for (let depth = 0; level.length > 0; depth++) {
    const [first] = level;
    if (depth > NESTING_MAX && first !== undefined) return first.offset;
    level = level.flatMap(childrenOf);
  }
  return null;
}

function childrenOf(token: CST.Token): CST.Token[] {
  if (token.type === 'document') return token.value === undefined ? [] : [token.value];
  if (!('items' in token)) return [];
  return token.items.flatMap((item) => [item.key ?? [], item.value ?? []].flat());
}

/** Takes pairs in the author's order, as long as they fit. */
class Taker {
  readonly metadata: Record<string, string> = emptyMetadata();
  readonly problems: FrontMatterProblem[] = [];
  #keys = 0;
  #bytes = 0;

  take({ key, value }: Pair<ParsedNode | null, ParsedNode | null>, line: number): void {
    if (!isScalar(key)) {
      this.problems.push({ line, reason: 'its key is no text' });
      return;
    }
    const written = String(key.value);
    const name = asciiLowerCase(written);
    const text = textOf(name, value);
    const reason = typeof text === 'string' ? this.#refusal(name, text) : text.reason;
    if (reason !== null) this.problems.push({ line, key: written, reason });
    if (typeof text !== 'string' || reason !== null || text === '') return;
    this.metadata[name] = text;
    this.#keys++;
    this.#bytes += pairBytes(name, text);
  }

  #refusal(name: string, text: string): string | null {
    if (name in this.metadata) return 'stands above already; the first one counts';
    if (text === '') return null;
    const problem = checkMetadata({ [name]: text });
    if (problem !== null) return problem.reason;
    if (this.#keys === METADATA_KEYS_MAX) return `more than ${METADATA_KEYS_MAX} keys`;
    if (this.#bytes + pairBytes(name, text) > METADATA_BYTES_MAX) {
      return `with the keys above it is more than ${METADATA_BYTES_MAX} bytes`;
    }
    return null;
  }
}

/** A value as one line, empty when nothing is said; a reason when it is no text. */
function textOf(name: string, value: ParsedNode | null): string | { readonly reason: string } {
  if (value === null) return '';
  if (isScalar(value)) return oneLine(String(value.value));
  if (!isSeq(value)) return { reason: isAlias(value) ? 'is an alias' : 'is a map' };
  const items: string[] = [];
  for (const item of value.items) {
    if (!isScalar(item)) return { reason: 'is a list of more than texts' };
    const text = oneLine(String(item.value));
    if (text !== '') items.push(text);
  }
  return name === 'tags' ? joinTags(items) : items.map(quoted).join(', ');
}

/** Tags are stored between commas, so none can hold one: split, it would be others. */
function joinTags(tags: readonly string[]): string | { readonly reason: string } {
  const broken = tags.find((tag) => tag.includes(','));
  if (broken === undefined) return tags.join(',');
  return { reason: `a tag holds no comma, and "${broken}" does` };
}

/** An item that holds a comma keeps its quotes, without which it would be two. */
function quoted(item: string): string {
  return item.includes(',') ? `"${item.replace(/["\\]/g, '\\$&')}"` : item;
}

function oneLine(text: string): string {
  return trimSpace(text)
    .split(/[\r\n]+/)
    .map(trimSpace)
    .join(' ');
}

/** Keys are ASCII or refused, so no other letter is touched: a key in Turkish stays what it is. */
function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
