/**
 * Version records between their values and JSON: `[version, stored_hash, body_hash, modified, at]`
 * with `at` = `{seq}` or `{epoch}`, the same in history blocks and record runs.
 */
import { canonicalText, type Json } from '../bucketstore/base/canonical.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { sequence } from '../bucketstore/base/sequence.ts';
import { hashProblem, rangeProblem, SECONDS_MAX } from '../bucketstore/log/entry-rules.ts';
import { VERSION_MAX } from '../bucketstore/log/records.ts';
import { Fields, isInteger } from '../bucketstore/log/strict.ts';
import type { StoredAt, VersionRecord } from '../bucketstore/snapshot/state.ts';

/** The JSON of a version record. */
export function versionRecordJson(record: VersionRecord): Json {
  const { version, storedHash, bodyHash, modified, at } = record;
  return [version, storedHash, bodyHash, modified, storedAtJson(at)];
}

/** Whether two version records say the same, their places included. */
export function isSameRecord(one: VersionRecord, other: VersionRecord): boolean {
  return canonicalText(versionRecordJson(one)) === canonicalText(versionRecordJson(other));
}

/** The JSON of a place, which segments say too. */
export function storedAtJson(at: StoredAt): Json {
  return 'seq' in at ? { seq: at.seq } : { epoch: at.epoch };
}

/**
 * The version record that a JSON value says. Types only: values are `versionRecordsProblem`'s.
 * @param object key of the bucket object, for errors
 * @param field where the value lies in it, for errors
 * @throws StoreError INTEGRITY
 */
export function readVersionRecord(
  object: string,
  field: string,
  value: Json | undefined,
): VersionRecord {
  const [version, storedHash, bodyHash, modified, at, ...rest] = Array.isArray(value) ? value : [];
  if (
    !isInteger(version) ||
    typeof storedHash !== 'string' ||
    typeof bodyHash !== 'string' ||
    !isInteger(modified) ||
    rest.length > 0
  ) {
    throw integrityError(object, `${field}: not a version, two hashes, a time and a place`);
  }
  return { version, storedHash, bodyHash, modified, at: readStoredAt(object, `${field}[4]`, at) };
}

/**
 * The place that a JSON value says. An epoch's range is the caller's.
 * @throws StoreError INTEGRITY
 */
export function readStoredAt(object: string, field: string, value: Json | undefined): StoredAt {
  const fields = new Fields(object, field, value);
  if (!fields.has('seq')) {
    const epoch = fields.integer('epoch');
    fields.end();
    return { epoch };
  }
  const seq = fields.integer('seq');
  fields.end();
  // No slot holds sequence 1, and only slots inline.
  return seq < 2 ? fields.fail('seq', `${seq} is no sequence of a slot`) : { seq: sequence(seq) };
}

/**
 * What is wrong with the version records of one document, or null. They ascend by version, and so
 * do the places of their stored versions, since a later version is later in the log.
 * @param field the array's name, for the problem
 * @param epochMax the epoch of the object that holds them: it names no younger blob; 0: schema 1
 */
export function versionRecordsProblem(
  field: string,
  records: readonly VersionRecord[],
  epochMax: number,
): string | null {
  let versionBefore = 0;
  let seqBefore = 1;
  let epochBefore = 0;
  for (const [index, { version, storedHash, bodyHash, modified, at }] of records.entries()) {
    const name = `${field}[${index}]`;
    const problem =
      rangeProblem(`${name}[0]`, version, versionBefore + 1, VERSION_MAX) ??
      hashProblem(`${name}[1]`, storedHash) ??
      hashProblem(`${name}[2]`, bodyHash) ??
      rangeProblem(`${name}[3]`, modified, 0, SECONDS_MAX) ??
      ('seq' in at
        ? rangeProblem(`${name}[4].seq`, at.seq, seqBefore + 1, Number.MAX_SAFE_INTEGER)
        : rangeProblem(`${name}[4].epoch`, at.epoch, epochBefore, epochMax));
    if (problem !== null) return problem;
    versionBefore = version;
    if ('seq' in at) seqBefore = at.seq;
    else epochBefore = at.epoch;
  }
  return null;
}
