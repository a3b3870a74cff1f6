/**
 * Slots and markers that no encoder of ours writes: any header text, under a checksum that is
 * right.
 */
import { expect } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { isStoreError, type StoreError } from '../../bucketstore/base/errors.ts';

/** A JSON value that tests take apart. */
export type Loose = null | boolean | number | string | Loose[] | { [name: string]: Loose };

/** The parts of a slot object. */
export interface SlotParts {
  readonly header: string;
  readonly rest: Uint8Array;
}

export function takeApart(bytes: Uint8Array): SlotParts {
  const end = bytes.indexOf(0x0a, 65);
  return { header: Buffer.from(bytes.subarray(65, end)).toString(), rest: bytes.subarray(end + 1) };
}

/** A slot object of these parts, with a first line that is right. */
export function putTogether(header: string | Uint8Array, rest: Uint8Array): Uint8Array {
  return withChecksum(Buffer.concat([Buffer.from(header), Buffer.from('\n'), rest]));
}

/** Any bytes behind a first line that is right. */
export function withChecksum(content: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${sha256Hex(content)}\n`), content]);
}

/** The error of a decoder that must refuse with INTEGRITY, naming `object`. */
export function refusal(object: string, decode: () => unknown): StoreError {
  try {
    const value = decode();
    expect.unreachable(`was accepted: ${JSON.stringify(value)}`);
  } catch (error) {
    if (!isStoreError(error)) throw error;
    expect(error.code).toBe('INTEGRITY');
    expect(error.details.object).toBe(object);
    expect(error.message.startsWith(`${object}: `)).toBe(true);
    return error;
  }
}

/** Every place of a value: the names and indexes that lead to it. */
export function placesOf(
  value: Loose,
  path: readonly (string | number)[] = [],
): (string | number)[][] {
  const below = Array.isArray(value)
    ? value.flatMap((item, index) => placesOf(item, [...path, index]))
    : value !== null && typeof value === 'object'
      ? Object.entries(value).flatMap(([name, item]) => placesOf(item, [...path, name]))
      : [];
  return path.length === 0 ? below : [[...path], ...below];
}

/** A copy of `value` in which `change` has been made to the container that holds the last step. */
export function changed(
  value: Loose,
  path: readonly (string | number)[],
  change: (container: { [name: string]: Loose } | Loose[], step: string | number) => void,
): Loose {
  const copy = structuredClone(value);
  let at = copy;
  for (const step of path.slice(0, -1)) at = (at as { [name: string]: Loose })[step] as Loose;
  change(at as { [name: string]: Loose }, path.at(-1) ?? '');
  return copy;
}
