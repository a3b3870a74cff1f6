/** One page of an S3 list, held against what was asked for. */
import type { Attributes, ListQuery } from './blob.ts';
import { compareKeys } from './order.ts';
import type { Answer } from './s3-exchange.ts';
import { Contradiction, makeAttributes } from './s3-objects.ts';

/** What is used of the SDK's decoded page. */
interface DecodedPage {
  readonly Contents?: readonly DecodedObject[] | undefined;
  readonly IsTruncated?: boolean | undefined;
  readonly NextContinuationToken?: string | undefined;
}

interface DecodedObject {
  readonly Key?: string | undefined;
  readonly ETag?: string | undefined;
  readonly Size?: number | undefined;
  readonly LastModified?: Date | undefined;
}

export interface Page {
  readonly objects: readonly Attributes[];
  readonly more: boolean;
  readonly token: string | undefined;
}

/**
 * Decodes a page; `output` is what the SDK made of it. The SDK takes any well-formed document for a
 * page, an error with status 200 for an empty one.
 * @param prefix the store's own, cut from every key
 * @throws Contradiction for a page that is none, or keys that are out of order, range or prefix
 */
export function decodePage(
  answer: Answer,
  output: unknown,
  prefix: string,
  query: ListQuery,
): Page {
  const start = Buffer.from(answer.bytes.subarray(0, 1024)).toString();
  if (typeof output !== 'object' || output === null || !/<ListBucketResult[\s>/]/.test(start)) {
    throw new Contradiction('an answer that is no list');
  }
  const page: DecodedPage = output;
  const objects = (page.Contents ?? []).map((object) => decodeObject(object, prefix));
  if (objects.length > query.limit) {
    throw new Contradiction(`${objects.length} objects where ${query.limit} were asked for`);
  }
  let last = query.after;
  for (const { key } of objects) {
    if (!key.startsWith(query.prefix)) throw new Contradiction(`"${key}" has another prefix`);
    if (last !== undefined && compareKeys(key, last) <= 0) {
      throw new Contradiction(
        `"${key}" after "${last}": a list must be in byte order and begin after its start`,
      );
    }
    last = key;
  }
  return { objects, more: page.IsTruncated === true, token: page.NextContinuationToken };
}

function decodeObject(object: DecodedObject, prefix: string): Attributes {
  const { Key: key, ETag: etag, Size: size, LastModified: modified } = object;
  if (key === undefined || etag === undefined || size === undefined || modified === undefined) {
    throw new Contradiction('a listed object without key, ETag, size or date');
  }
  if (!key.startsWith(prefix)) throw new Contradiction(`"${key}" has another prefix`);
  return makeAttributes(key.slice(prefix.length), etag, size, modified.getTime());
}
