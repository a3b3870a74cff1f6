/** Requests to the emulator as bytes, without any client of GCS. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { Emulator } from './emulator.ts';
import { BUCKET } from './open.ts';

/** The fields of answers that the checks look at. */
export interface Json {
  readonly items?: readonly { readonly name: string }[];
  readonly nextPageToken?: string;
  readonly generation?: string;
  readonly md5Hash?: string;
  readonly crc32c?: string;
}

/** One answer. */
export interface Raw {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: Json;
}

/** Headers to send. */
export type RawHeaders = Readonly<Record<string, string>>;
/** Sends one request. */
export type Call = (
  method: string,
  path: string,
  body?: string,
  headers?: RawHeaders,
) => Promise<Raw>;

/** Paths of the one bucket. */
export const OBJECTS: string = `/storage/v1/b/${BUCKET}/o`;
export const UPLOAD: string = `/upload${OBJECTS}`;

/** Sends raw requests to an emulator. */
export function caller({ port }: Emulator): Call {
  return (method, path, body = '', headers = {}) =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, method, path, headers };
      const out = httpRequest(options, (response) => {
        let text = '';
        response.setEncoding('latin1').on('data', (chunk: string) => {
          text += chunk;
        });
        response.once('error', reject).once('end', () => {
          const isJson = response.headers['content-type']?.startsWith('application/json');
          const json = isJson ? JSON.parse(text) : {};
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
        });
      });
      out.once('error', reject).end(body);
    });
}

/** `more` is headers for a media upload and metadata for a multipart one. */
export type Upload = (
  call: Call,
  name: string,
  body: string,
  query?: string,
  more?: RawHeaders,
) => Promise<Raw>;

/** Uploads of each form, as a client would send them. */
export const forms: Readonly<Record<'media' | 'multipart' | 'resumable', Upload>> = {
  media: (call, name, body, query = '', headers = {}) =>
    call(
      'POST',
      `${UPLOAD}?uploadType=media&name=${encodeURIComponent(name)}${query}`,
      body,
      headers,
    ),
  multipart: (call, name, body, query = '', metadata = {}) => {
    const json = JSON.stringify({ name, ...metadata });
    const part = `--B\r\nContent-Type: application/json\r\n\r\n${json}`;
    const rest = `\r\n--B\r\nContent-Type: text/plain\r\n\r\n${body}\r\n--B--`;
    const type = { 'Content-Type': 'multipart/related; boundary=B' };
    return call('POST', `${UPLOAD}?uploadType=multipart${query}`, part + rest, type);
  },
  resumable: async (call, name, body, query = '') => {
    const path = `${UPLOAD}?uploadType=resumable&name=${encodeURIComponent(name)}${query}`;
    const start = await call('POST', path, '{}');
    if (start.status !== 200) return start;
    const { pathname, search } = new URL(String(start.headers.location));
    return call('PUT', pathname + search, body);
  },
};
