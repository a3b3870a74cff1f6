/**
 * What the thread that merges and the one that it merges for tell each other. One merge at a time;
 * bytes change hands and are not copied. A merge that fails ends the thread, so nothing of one is
 * ever taken for another's.
 */
import { InvariantError } from '../bucketstore/base/assert.ts';
import {
  type ErrorDetails,
  isStoreError,
  StoreError,
  type StoreErrorCode,
} from '../bucketstore/base/errors.ts';
import type { EncodedHistory } from './history.ts';
import type { MergeOptions } from './merger.ts';
import type { BuiltTable } from './table-builder.ts';
import type { TableKind, TableRef } from './table-directory.ts';

/** To the thread that merges. */
export type MergeRequest =
  | {
      readonly kind: 'merge';
      readonly tables: TableKind;
      /** For each run, its tables. */
      readonly runs: readonly (readonly TableRef[])[];
      readonly options: Omit<MergeOptions, 'signal'>;
    }
  /** The table that was wanted. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** A table or block that was made has been written. */
  | { readonly kind: 'taken' };

/** From it. */
export type MergeReport =
  /** It has begun: sent once. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'wants'; readonly run: number; readonly table: number }
  | { readonly kind: 'kept'; readonly run: number; readonly table: number }
  | { readonly kind: 'made'; readonly table: BuiltTable }
  | { readonly kind: 'closed'; readonly block: EncodedHistory }
  /** Everything has been made and taken. */
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** How far a merge is ahead of what has been written: tables and blocks. */
export const AHEAD = 2;

/** An error as it goes from one thread to another, which would lose what is not of every error. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  /** Of a `StoreError`. */
  readonly code: StoreErrorCode | undefined;
  readonly details: ErrorDetails | undefined;
}

export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) {
    return { ...NOTHING, name: 'Error', message: String(error) };
  }
  const { name, message, stack } = error;
  if (!isStoreError(error)) return { ...NOTHING, name, message, stack };
  return { name, message, stack, code: error.code, details: error.details };
}

const NOTHING = { stack: undefined, code: undefined, details: undefined };

/** The error that `failureOf` told of. */
export function errorOf({ name, message, stack, code, details }: Failure): Error {
  const error = errorNamed();
  if (stack !== undefined) error.stack = stack;
  return error;

  function errorNamed(): Error {
    if (code !== undefined) return new StoreError(code, message, { details: details ?? {} });
    if (name === 'InvariantError') return new InvariantError(message);
    return new Error(`${name}: ${message}`);
  }
}

/** What of bytes can change hands: a buffer that holds nothing else. */
export function wholeBuffer(bytes: Uint8Array): ArrayBuffer[] {
  const { buffer, byteLength } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}
