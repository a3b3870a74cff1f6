/**
 * Goal: as `test/log/fuzz.test.ts` and `test/document/fuzz.test.ts`, with damage that nobody has
 * seen before. Method: one seed after another for `BUCKETSTORE_FUZZ_SECONDS` (2), from
 * `BUCKETSTORE_FUZZ_SEED` (the time) on. A failure prints its seed and path.
 */
import { test } from 'vitest';
import { fuzzFrontMatter, fuzzStored } from '../document/fuzz.ts';
import { fuzzCheckpoints, fuzzMarkers, fuzzSlots } from '../log/fuzz.ts';

const SECONDS = Number(process.env['BUCKETSTORE_FUZZ_SECONDS'] ?? 2);
const SEED = Number(process.env['BUCKETSTORE_FUZZ_SEED'] ?? Date.now() % 2 ** 31);

test(`the decoders bear ${SECONDS} s of damage`, { timeout: (SECONDS + 60) * 1000 }, () => {
  const end = Date.now() + SECONDS * 1000;
  let seed = SEED;
  do {
    fuzzSlots(seed, 300);
    fuzzMarkers(seed, 300);
    fuzzCheckpoints(seed, 300);
    fuzzStored(seed, 300);
    fuzzFrontMatter(seed, 300);
    seed++;
  } while (Date.now() < end);
  console.log(`seeds ${SEED} to ${seed - 1}`);
});
