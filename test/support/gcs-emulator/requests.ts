/** Taking requests apart, strictly: what the service would not understand is 400. */
import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from './answers.ts';

export interface WireCall {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export function bad(message: string): Refusal {
  return new Refusal(400, 'invalid', message);
}

/** A generation in a query; 0 is one. */
export function generationOf(query: URLSearchParams, name: string): string | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  if (!/^\d{1,19}$/.test(value)) throw bad(`Invalid value for ${name}: ${value}`);
  return value;
}

/** `bytes=start-end`, `bytes=start-` or `bytes=-suffix` over an object of `size` bytes. */
export function rangeOf(
  header: string | undefined,
  size: number,
): readonly [start: number, end: number] | 'beyond' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (match === null) return undefined;
  const [, from = '', to = ''] = match;
  if (from === '') return to === '' ? undefined : [Math.max(0, size - Number(to)), size];
  const start = Number(from);
  if (start >= size) return 'beyond';
  return [start, to === '' ? size : Math.min(Number(to) + 1, size)];
}

/** What an upload may say about its object. */
export interface Metadata {
  readonly name?: unknown;
  readonly contentType?: unknown;
  readonly crc32c?: unknown;
  readonly md5Hash?: unknown;
}

export interface Parts {
  readonly metadata: Metadata;
  readonly content: Buffer;
  readonly contentType: string | undefined;
}

/** The two parts of a multipart upload: JSON, then the content. */
export function partsOf({ headers, body }: WireCall): Parts {
  const type = headers['content-type'] ?? '';
  const boundary = /^multipart\/related;.*boundary="?([^";]+)"?/i.exec(type)?.[1];
  if (boundary === undefined)
    throw bad('A multipart upload needs multipart/related and a boundary');
  const line = Buffer.from(`--${boundary}`);
  const first = body.indexOf(line);
  const second = body.indexOf(`\r\n--${boundary}\r\n`, first + line.length);
  const end = body.indexOf(`\r\n--${boundary}--`, second + 1);
  if (first < 0 || second < 0 || end < 0) throw bad('Malformed multipart body');
  const [, json] = split(body.subarray(first + line.length + 2, second));
  const [head, content] = split(body.subarray(second + line.length + 4, end));
  const contentType = /content-type:\s*([^\r\n]+)/i.exec(head)?.[1];
  return { metadata: objectOf(json.toString()), content, contentType };
}

export function objectOf(text: string): Metadata {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw bad('Parse Error');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bad('Parse Error');
  return value;
}

function split(part: Buffer): readonly [head: string, content: Buffer] {
  const at = part.indexOf('\r\n\r\n');
  if (at < 0) throw bad('Malformed multipart body');
  return [part.subarray(0, at).toString(), part.subarray(at + 4)];
}
