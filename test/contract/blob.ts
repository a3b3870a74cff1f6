/**
 * The bucket contract as a suite: what `blob/blob.ts` promises, as cases that any driver must pass.
 *
 * It knows no test runner. Give it one's `test` and a factory of fresh buckets:
 *
 *     blobContract({ test, factory: () => ({ store: createMemoryBucket({ timing }) }) });
 */
import { KEY_BYTES_MAX } from '../../blob/blob.ts';
import type { BlobCase, BlobCaseContext, BlobContractOptions, BlobSupports } from './blob-case.ts';
import { byteOrderOver1000Keys, list, oddKeys, offsetThatNamesNoKey } from './blob-lists.ts';
import {
  aliasing,
  canceledContext,
  eightMib,
  emptyObject,
  rangeReads,
  roundTrips,
  validation,
  zeroResults,
} from './blob-reads.ts';
import {
  concurrentCreate,
  concurrentReplace,
  deleteRecreateAba,
  duplicateCreate,
  replaceCas,
  unconditionalDelete,
} from './blob-writes.ts';

const CASES: Readonly<Record<string, BlobCase>> = {
  RoundTrips: roundTrips,
  Aliasing: aliasing,
  DuplicateCreate: duplicateCreate,
  ConcurrentCreate: concurrentCreate,
  List: list,
  Validation: validation,
  CanceledContext: canceledContext,
  ZeroResults: zeroResults,
  UnconditionalDelete: unconditionalDelete,
  RangeReads: rangeReads,
  ByteOrderOver1000Keys: byteOrderOver1000Keys,
  OffsetThatNamesNoKey: offsetThatNamesNoKey,
  EmptyObject: emptyObject,
  EightMiB: eightMib,
  OddKeys: oddKeys,
  DeleteRecreateABA: deleteRecreateAba,
};

/** Only where the factory does not say that `replace` is unsupported. */
const REPLACE_CASES: Readonly<Record<string, BlobCase>> = {
  ReplaceCAS: replaceCas,
  ConcurrentReplace: concurrentReplace,
};

/** Registers every case with `test`; each gets a fresh bucket and cleans up after itself. */
export function blobContract(options: BlobContractOptions): void {
  const supports = withDefaults(options.supports ?? {});
  const scale = options.scale ?? 1;
  if (!(scale > 0 && scale <= 1)) throw new RangeError(`scale is in (0, 1], got ${scale}`);
  const count = (full: number, min = 1): number => Math.max(min, Math.ceil(full * scale));
  const cases = supports.replace ? { ...CASES, ...REPLACE_CASES } : CASES;
  for (const [name, run] of Object.entries(cases)) {
    options.test(name, async () => {
      const { store, cleanup } = await options.factory();
      try {
        await run({ store, supports, count });
      } finally {
        await (cleanup?.() ?? store.close());
      }
    });
  }
}

function withDefaults(supports: BlobSupports): BlobCaseContext['supports'] {
  return {
    replace: supports.replace ?? true,
    uniqueGenerations: supports.uniqueGenerations ?? true,
    emptySegments: supports.emptySegments ?? true,
    keyBytes: supports.keyBytes ?? KEY_BYTES_MAX,
  };
}
