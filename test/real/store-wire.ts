/**
 * Values between the processes of `store-process.ts`: JSON lines with bytes, errors and
 * functions.
 */
import { isStoreError, StoreError } from '../../bucketstore/index.ts';

export type Wire =
  | null
  | boolean
  | number
  | string
  | readonly Wire[]
  | { readonly [name: string]: Wire };

/** From the test to a store's process. */
export type Request =
  | { readonly id: number; readonly target: number; readonly method: string; readonly args: Wire }
  | { readonly abort: number }
  /** The answer to a `Callback`. */
  | { readonly reply: number; readonly error?: Wire };

/** From a store's process to the test. */
export type Answer =
  | { readonly ready: { readonly worldId: string; readonly storeId: string } }
  | { readonly id: number; readonly result: Wire }
  | { readonly id: number; readonly error: Wire }
  /** A precondition runs: `state` is what its reader is called by. */
  | {
      readonly callback: number;
      readonly call: number;
      readonly state: number;
      readonly prepared: Wire;
    };

/** What one side makes of values that JSON has no word for. */
export interface Words {
  readonly encode?: (value: object | (() => unknown)) => Wire | undefined;
  readonly decode?: (name: string, value: Wire) => unknown;
}

export function encode(value: unknown, words: Words = {}): Wire {
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString('base64') };
  if (typeof value === 'function' || (typeof value === 'object' && value !== null)) {
    const own = words.encode?.(value as object);
    if (own !== undefined) return own;
  }
  if (value instanceof Error) return { $error: errorWire(value) };
  if (Array.isArray(value)) return value.map((item) => encode(item, words));
  if (typeof value !== 'object' || value === null) return value as Wire;
  const present = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(present.map(([name, item]) => [name, encode(item, words)]));
}

export function decode(value: Wire, words: Words = {}): unknown {
  if (Array.isArray(value)) return value.map((item) => decode(item, words));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [name = '', item = null] = entries[0] ?? [];
  if (entries.length === 1 && name === '$bytes') {
    return new Uint8Array(Buffer.from(String(item), 'base64'));
  }
  if (entries.length === 1 && name === '$error')
    return errorOf(item as { readonly [name: string]: Wire });
  if (entries.length === 1 && name.startsWith('$')) return words.decode?.(name, item);
  return Object.fromEntries(entries.map(([key, inner]) => [key, decode(inner, words)]));
}

function errorWire(error: Error): Wire {
  const { name, message } = error;
  if (!isStoreError(error)) return { name, message };
  return { name, message, code: error.code, details: encode(error.details) };
}

function errorOf(wire: { readonly [name: string]: Wire }): Error {
  const message = String(wire['message']);
  if (wire['name'] === 'StoreError') {
    const details = wire['details'] as StoreError['details'];
    return new StoreError(wire['code'] as StoreError['code'], message, { details });
  }
  return Object.assign(new Error(message), { name: String(wire['name']) });
}
