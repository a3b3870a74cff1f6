/**
 * Goal: what stays in memory of a document is what the design allows (155 to 215 bytes measured).
 * Method: 100,000 documents as a large world has them, in segments of 5,000; the set's own count of
 * its bytes, and that the count is of all that it keeps.
 */
import { expect, test } from 'vitest';
import { ColumnsBuilder } from '../../checkpoint/columns.ts';
import { readColumns } from '../../checkpoint/columns-reader.ts';
import { ResidentBuilder } from '../../checkpoint/resident-builder.ts';
import { typicalDocuments } from './typical-documents.ts';

const DOCUMENTS = 100_000;
const SEGMENT_DOCUMENTS = 5000;
const BYTES_MAX = 220;

test('100,000 documents keep at most 220 bytes each', () => {
  const documents = typicalDocuments(1, DOCUMENTS);
  const resident = new ResidentBuilder(DOCUMENTS);
  let written = 0;
  for (let start = 0; start < DOCUMENTS; start += SEGMENT_DOCUMENTS) {
    const builder = new ColumnsBuilder();
    const segment = documents.slice(start, start + SEGMENT_DOCUMENTS);
    for (const document of segment) builder.add(document.path, document);
    const ranges = builder.finish();
    for (const bytes of ranges.values()) written += bytes.length;
    resident.append(readColumns(`index/00000001/${start}.seg`, segment.length, ranges));
  }
  const columns = resident.finish();
  expect(columns.rows).toBe(DOCUMENTS);
  expect(columns.bytes / DOCUMENTS).toBeLessThanOrEqual(BYTES_MAX);
  // The segments repeat words; all else of what they hold is kept, and an order of bodies besides.
  expect(columns.bytes / DOCUMENTS).toBeGreaterThan(0.8 * (written / DOCUMENTS));
});
