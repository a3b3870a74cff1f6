/**
 * Strict JSON: what is read must be, byte for byte, what we would have written.
 *
 * A decoder goes three steps: `parseStrict` (bounded, well-formed UTF-8, one JSON value), a
 * `Fields` for each object (types, nothing missing, nothing more), and `assertCanonical` on the
 * value encoded again. The last refuses whatever JSON allows beside the one spelling: white space,
 * another order, a field twice, needless escapes, `1e3`. What values mean (ranges, cross checks) is
 * the decoder's own.
 *
 * Every refusal is an integrity error that names the object by key and the field by path.
 */
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../base/ascii.ts';
import type { Json } from '../base/canonical.ts';
import { integrityError } from '../base/errors.ts';
import { decodeUtf8 } from '../document/text.ts';

/** A parsed JSON object. Read it through `Fields` only: any name may be present. */
type JsonObject = { readonly [name: string]: Json };

/** Bounds on a JSON text, checked before any value is made of it. */
export interface JsonBounds {
  readonly bytesMax: number;
  /** Objects and arrays inside one another. Keeps recursion over the value shallow. */
  readonly depthMax: number;
  /** Commas outside strings: bounds members and items of all objects and arrays together. */
  readonly commasMax: number;
}

export interface ParsedJson {
  readonly text: string;
  readonly value: Json;
}

/**
 * The JSON value that the bytes of `object` (or a part of it) spell.
 * @throws StoreError INTEGRITY when they spell none, or one beyond the bounds
 */
export function parseStrict(object: string, bytes: Uint8Array, bounds: JsonBounds): ParsedJson {
  if (bytes.length > bounds.bytesMax) {
    throw integrityError(object, `${bytes.length} bytes of JSON, more than ${bounds.bytesMax}`);
  }
  const text = decodeUtf8(bytes);
  if (text === null) throw integrityError(object, 'not well-formed UTF-8');
  const excess = boundsProblem(text, bounds);
  if (excess !== null) throw integrityError(object, excess);
  try {
    return { text, value: JSON.parse(text) as Json };
  } catch (error) {
    throw integrityError(object, 'not JSON', error);
  }
}

/**
 * Refuses a text that is not `encoded`, the canonical text of what was understood of it.
 * @throws StoreError INTEGRITY naming the first place that differs
 */
export function assertCanonical(object: string, text: string, encoded: string): void {
  if (text === encoded) return;
  let at = 0;
  while (at < encoded.length && text[at] === encoded[at]) at++;
  throw integrityError(object, `not canonical JSON, first at character ${at}`);
}

/** The members of one JSON object, each read once by name and type; `end` refuses what is left. */
export class Fields {
  readonly #object: string;
  readonly #path: string;
  readonly #members: JsonObject;
  readonly #read: string[] = [];

  /**
   * @param object key of the bucket object, for errors
   * @param path where this JSON object lies in it, for errors; empty at the top
   * @throws StoreError INTEGRITY unless `value` is a JSON object
   */
  constructor(object: string, path: string, value: Json | undefined) {
    this.#object = object;
    this.#path = path;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw integrityError(object, `${path === '' ? 'JSON' : path}: not an object`);
    }
    this.#members = value as JsonObject;
  }

  /** Whether an optional member is present. A present null counts. */
  has(name: string): boolean {
    return Object.hasOwn(this.#members, name);
  }

  string(name: string): string {
    const value = this.json(name);
    return typeof value === 'string' ? value : this.#wrongType(name, 'a string');
  }

  optionalString(name: string): string | undefined {
    return this.has(name) ? this.string(name) : undefined;
  }

  /** A safe integer; its range is the caller's. */
  integer(name: string): number {
    const value = this.json(name);
    return isInteger(value) ? value : this.#wrongType(name, 'a safe integer');
  }

  optionalInteger(name: string): number | undefined {
    return this.has(name) ? this.integer(name) : undefined;
  }

  boolean(name: string): boolean {
    const value = this.json(name);
    return typeof value === 'boolean' ? value : this.#wrongType(name, 'a boolean');
  }

  /** One of the given texts. */
  choice<T extends string>(name: string, choices: readonly T[]): T {
    const value = this.json(name);
    for (const choice of choices) if (value === choice) return choice;
    return this.#wrongType(name, choices.map((choice) => `"${choice}"`).join(' or '));
  }

  array(name: string): readonly Json[] {
    const value = this.json(name);
    return Array.isArray(value) ? value : this.#wrongType(name, 'an array');
  }

  object(name: string): Fields {
    return new Fields(this.#object, this.path(name), this.json(name));
  }

  /** The member as it is; a missing one is refused. */
  json(name: string): Json {
    const value = this.has(name) ? this.#members[name] : undefined;
    if (value === undefined) return this.fail(name, 'missing');
    this.#read.push(name);
    return value;
  }

  /** Every member as text, in an object without prototype: any name is safe in it. */
  strings(): { readonly [name: string]: string } {
    const result: { [name: string]: string } = Object.create(null);
    for (const name of Object.keys(this.#members)) result[name] = this.string(name);
    return result;
  }

  /** Refuses members that were not read. */
  end(): void {
    const names = Object.keys(this.#members);
    if (names.length === this.#read.length) return;
    for (const name of names) if (!this.#read.includes(name)) this.fail(name, 'unknown field');
  }

  /** Where a member lies in the object. */
  path(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  /** @throws StoreError INTEGRITY naming a member, always */
  fail(name: string, problem: string): never {
    return this.refuse(`${name}: ${problem}`);
  }

  /**
   * @param problem begins with the name of a member
   * @throws StoreError INTEGRITY, always
   */
  refuse(problem: string): never {
    throw integrityError(this.#object, this.path(problem));
  }

  #wrongType(name: string, expected: string): never {
    return this.fail(name, `not ${expected}`);
  }
}

/** A safe integer with one spelling: −0 is none. */
export function isInteger(value: Json | undefined): value is number {
  return Number.isSafeInteger(value) && !Object.is(value, -0);
}

function boundsProblem(text: string, bounds: JsonBounds): string | null {
  let depth = 0;
  let commas = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = closingQuote(text, i + 1);
        break;
      case COMMA:
        if (++commas > bounds.commasMax) return `more than ${bounds.commasMax} commas`;
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        if (++depth > bounds.depthMax) return `nested deeper than ${bounds.depthMax}`;
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth--;
        break;
    }
  }
  return null;
}

/** Where a string ends; at the end of the text when it does not, which is no JSON anyway. */
function closingQuote(text: string, start: number): number {
  let end = text.indexOf('"', start);
  while (end >= 0 && isEscaped(text, start, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, start: number, at: number): boolean {
  let slashes = 0;
  while (at - slashes > start && text.charCodeAt(at - slashes - 1) === BACKSLASH) slashes++;
  return slashes % 2 === 1;
}
