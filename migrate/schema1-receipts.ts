/**
 * Receipts: what the head tells of the last commits, and change blocks of earlier ones.
 *
 * LAYOUT. { operation_id, sequence, result: "committed" [, path, op [, agent], version, hash] },
 * `hash` being that of the body.
 *
 * VALIDITY. Sequences are consecutive and no operation comes twice. A receipt says all of path, op,
 * version and hash or none of them; the first releases said none, so one window may hold both
 * kinds. `agent` is absent when there was none.
 */
import { isSha256Hex } from '../bucketstore/base/digest.ts';
import { isUuid } from '../bucketstore/base/uuid.ts';
import { formatHash } from '../bucketstore/document/body.ts';
import { isDocumentPath } from '../bucketstore/document/path.ts';
import { DOCUMENT_VERSION_MAX } from '../bucketstore/document/stored.ts';
import { rangeProblem } from '../bucketstore/log/entry-rules.ts';
import { Fields } from '../bucketstore/log/strict.ts';
import type { GoFields } from './go-json.ts';
import { readBodyHash } from './schema1-object.ts';
import type { Receipt, ReceiptChange } from './schema1-records.ts';

const OPERATIONS = ['publish', 'append', 'archive'] as const;

/**
 * The receipts of an object, as they are: `receiptsProblem` says whether they are right.
 * @param object key of it, for errors
 * @throws StoreError INTEGRITY
 */
export function readReceipts(object: string, fields: Fields): Receipt[] {
  const at = fields.path('receipts');
  return fields.array('receipts').map((value, index) => {
    return readReceipt(new Fields(object, `${at}[${index}]`, value));
  });
}

/**
 * What is wrong with receipts of which the first is that of sequence `first`; null when nothing is.
 */
export function receiptsProblem(receipts: readonly Receipt[], first: number): string | null {
  const seen = new Set<string>();
  for (const [index, receipt] of receipts.entries()) {
    const at = `receipts[${index}]`;
    const expected = first + index;
    if (receipt.sequence !== expected) {
      return `${at}.sequence: ${receipt.sequence} is not ${expected}`;
    }
    if (!isUuid(receipt.operationId)) return `${at}.operation_id: not a UUID`;
    if (seen.has(receipt.operationId)) return `${at}.operation_id: there twice`;
    seen.add(receipt.operationId);
    const problem = receipt.change === null ? null : changeProblem(receipt.change);
    if (problem !== null) return `${at}.${problem}`;
  }
  return null;
}

/** Receipts to be spelled. */
export function receiptsJson(receipts: readonly Receipt[]): GoFields[] {
  return receipts.map(({ operationId, sequence, change }) => ({
    operation_id: operationId,
    sequence,
    result: 'committed',
    ...(change === null ? {} : changeJson(change)),
  }));
}

function changeJson({ path, op, agent, version, bodyHash }: ReceiptChange): GoFields {
  const hash = formatHash(bodyHash);
  return { path, op, agent: agent === '' ? undefined : agent, version, hash };
}

function readReceipt(fields: Fields): Receipt {
  const operationId = fields.string('operation_id');
  const sequence = fields.integer('sequence');
  fields.choice('result', ['committed']);
  const named = ['path', 'op', 'agent', 'version', 'hash'].some((name) => fields.has(name));
  const change = named ? readChange(fields) : null;
  fields.end();
  return { operationId, sequence, change };
}

function readChange(fields: Fields): ReceiptChange {
  const agent = fields.optionalString('agent');
  if (agent === '') fields.fail('agent', 'empty, must be absent');
  return {
    path: fields.string('path'),
    op: fields.choice('op', OPERATIONS),
    agent: agent ?? '',
    version: fields.integer('version'),
    bodyHash: readBodyHash(fields, 'hash'),
  };
}

function changeProblem({ path, agent, version, bodyHash }: ReceiptChange): string | null {
  if (!isDocumentPath(path)) return 'path: not a canonical document path';
  if (!agent.isWellFormed() || /[\r\n]/.test(agent)) return 'agent: not one line of text';
  if (!isSha256Hex(bodyHash)) return 'hash: not "sha256-" and 64 lower-case hex digits';
  return rangeProblem('version', version, 1, DOCUMENT_VERSION_MAX);
}
