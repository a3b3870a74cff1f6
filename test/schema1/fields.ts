/** Reads members of decoded JSON, each as what it must be. */
import { OldStoreError } from './error.ts';

export class Fields {
  readonly object: string;
  readonly #value: { readonly [name: string]: unknown };

  /** @throws OldStoreError `integrity` when `value` is no JSON object */
  constructor(object: string, value: unknown) {
    this.object = object;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new OldStoreError('integrity', object, 'no object where one belongs');
    }
    this.#value = value as { readonly [name: string]: unknown };
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#value, name);
  }

  string(name: string): string {
    const value = this.#member(name);
    return typeof value === 'string' ? value : this.#fail(name);
  }

  boolean(name: string): boolean {
    const value = this.#member(name);
    return typeof value === 'boolean' ? value : this.#fail(name);
  }

  /** A whole number within bounds. */
  integer(name: string, least: number, most: number = Number.MAX_SAFE_INTEGER): number {
    const value = this.#member(name);
    const whole = typeof value === 'number' && Number.isSafeInteger(value);
    return whole && value >= least && value <= most ? value : this.#fail(name);
  }

  list(name: string): readonly unknown[] {
    const value = this.#member(name);
    return Array.isArray(value) ? value : this.#fail(name);
  }

  strings(name: string): readonly string[] {
    return this.list(name).map((item) => (typeof item === 'string' ? item : this.#fail(name)));
  }

  fields(name: string): Fields {
    return new Fields(this.object, this.#member(name));
  }

  each<T>(name: string, read: (fields: Fields) => T): readonly T[] {
    return this.list(name).map((item) => read(new Fields(this.object, item)));
  }

  /** An object whose members are all strings, whatever they are called. */
  stringMap(name: string): ReadonlyMap<string, string> {
    const { object } = this;
    const map = new Map<string, string>();
    const value = this.#member(name);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) this.#fail(name);
    const members = new Fields(object, value);
    for (const key of Object.keys(value as object)) map.set(key, members.string(key));
    return map;
  }

  #member(name: string): unknown {
    return this.has(name) ? this.#value[name] : undefined;
  }

  #fail(name: string): never {
    throw new OldStoreError('integrity', this.object, `member ${name} is not what it must be`);
  }
}
