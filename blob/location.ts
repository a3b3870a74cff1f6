/**
 * Locations: where a bucket is, as one line of text.
 *
 * ```
 * gs://BUCKET[/PREFIX][?endpoint=URL]
 * s3://BUCKET[/PREFIX][?endpoint=URL&region=R&path-style=true&checksums=required]
 * file:PATH            a directory, relative or absolute
 * memory:              a fresh bucket in this process
 * memory:NAME          one bucket of this process by name
 * model:LOCATION       any of them behind the latency model of a real service
 * ```
 */

export type Location = (
  | {
      readonly kind: 'gcs';
      readonly bucket: string;
      readonly prefix: string;
      readonly query: Query;
    }
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string; readonly query: Query }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'memory'; readonly name: string | null }
) & { readonly model: boolean };

type Query = ReadonlyMap<string, string>;

const GCS_QUERY: readonly string[] = ['endpoint'];
const S3_QUERY: readonly string[] = ['endpoint', 'region', 'path-style', 'checksums'];
const FORMS = 'gs://BUCKET[/PREFIX], s3://BUCKET[/PREFIX], file:PATH, memory: or memory:NAME';

/**
 * Reads a location.
 * @throws RangeError saying what is wrong and which forms there are
 */
export function parseLocation(text: string): Location {
  const model = text.startsWith('model:');
  const rest = model ? text.slice('model:'.length) : text;
  if (rest.startsWith('gs://')) {
    return { kind: 'gcs', ...bucketParts(text, rest.slice(5), GCS_QUERY), model };
  }
  if (rest.startsWith('s3://')) {
    return { kind: 's3', ...bucketParts(text, rest.slice(5), S3_QUERY), model };
  }
  if (rest.startsWith('file:')) {
    return { kind: 'file', path: filePath(text, rest.slice(5)), model };
  }
  if (rest.startsWith('memory:')) {
    const name = rest.slice('memory:'.length);
    if (!/^[A-Za-z0-9._-]*$/.test(name)) throw bad(text, 'a memory name is [A-Za-z0-9._-]');
    return { kind: 'memory', name: name === '' ? null : name, model };
  }
  throw bad(text, `a location is one of ${FORMS}`);
}

/** The location in the form `parseLocation` reads. */
export function formatLocation(location: Location): string {
  const model = location.model ? 'model:' : '';
  switch (location.kind) {
    case 'memory':
      return `${model}memory:${location.name ?? ''}`;
    case 'file':
      return `${model}file:${location.path}`;
    case 'gcs':
    case 's3': {
      const scheme = location.kind === 'gcs' ? 'gs' : 's3';
      const prefix = location.prefix === '' ? '' : `/${location.prefix}`;
      const query = new URLSearchParams([...location.query]).toString();
      return `${model}${scheme}://${location.bucket}${prefix}${query === '' ? '' : `?${query}`}`;
    }
    default:
      return location satisfies never;
  }
}

function bucketParts(
  text: string,
  rest: string,
  known: readonly string[],
): { readonly bucket: string; readonly prefix: string; readonly query: Query } {
  const [address = '', queryText = ''] = splitOnce(rest, '?');
  const [bucket, prefixText] = splitOnce(address, '/');
  if (!/^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/.test(bucket)) {
    throw bad(text, `"${bucket}" is not a bucket name (3 or more of a-z, 0-9, "-", "_", ".")`);
  }
  const prefix = prefixText.replace(/\/+$/, '');
  if (prefix !== '' && !/^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/.test(prefix)) {
    throw bad(text, 'a prefix is [A-Za-z0-9._-] in segments separated by single slashes');
  }
  const query = new Map(new URLSearchParams(queryText));
  for (const key of query.keys()) {
    if (!known.includes(key))
      throw bad(text, `unknown setting "${key}"; known: ${known.join(', ')}`);
  }
  return { bucket, prefix, query };
}

function filePath(text: string, rest: string): string {
  const path = rest.startsWith('///') ? rest.slice(2) : rest;
  if (path === '') throw bad(text, 'file: needs a path');
  if (path.startsWith('//')) throw bad(text, 'file: takes a path on this machine, not a host');
  if (path.includes('\0')) throw bad(text, 'a path has no NUL');
  return path;
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function bad(text: string, problem: string): RangeError {
  return new RangeError(`location "${text}": ${problem}`);
}
