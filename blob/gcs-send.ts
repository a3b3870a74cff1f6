/**
 * One HTTP request of the GCS driver, whole body in, whole body out.
 *
 * The SDK authorises each request (`gcs.ts`); the sockets are ours, because those of its own
 * transport (7.22: teeny-request over node-fetch 2) cannot be bounded, stopped or closed: one
 * pool for the whole process; a call that is abandoned keeps its socket; a failed download
 * destroys the shared agent and so resets every other call, creates included; a connection that
 * breaks inside a body of known length is not noticed at all.
 *
 * Guarantees: exactly one request on the wire, never repeated, no redirect followed; the socket is
 * back in its pool or destroyed when the promise settles; a body that stalls longer than
 * `idleBodyMs`, ends early or grows over `bytesMax` is an error.
 */

import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Lane, Timing } from './blob.ts';
import { DONE } from './signal.ts';

export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** Each lane has its own sockets, so a create never waits behind bulk reads. */
  readonly lane: Lane;
  /** An answer with a longer body is an error. */
  readonly bytesMax: number;
}

export interface WireResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Uint8Array;
}

/**
 * | kind | means |
 * |---|---|
 * | `network` | no connection, or it broke before an answer began |
 * | `short` | the body ended before its length, by a reset or not, or the answer is no HTTP |
 * | `long` | the body is longer than was asked for |
 * | `idle` | no body byte for `idleBodyMs` |
 * | `stopped` | the signal given to `send` |
 */
export type SendFailure = 'network' | 'short' | 'long' | 'idle' | 'stopped';

/** Why there is no whole answer. */
export class SendError extends Error {
  override readonly name = 'SendError';
  readonly kind: SendFailure;
  /** False only when the service cannot have seen the request: it had no connection yet. */
  readonly sent: boolean;
  /** The `Date` header, when headers had arrived. */
  readonly date: string | undefined;

  constructor(kind: SendFailure, sent: boolean, date: string | undefined, cause?: unknown) {
    super(`no whole answer (${kind})`, { cause });
    this.kind = kind;
    this.sent = sent;
    this.date = date;
  }
}

export interface Sender {
  /** @throws SendError */
  send(request: WireRequest, signal: AbortSignal): Promise<WireResponse>;
  /** Destroys every socket; requests in flight fail with kind `network`. */
  close(): void;
}

export interface SenderOptions {
  readonly timing: Timing;
  readonly idleBodyMs: number;
  /** Per lane. */
  readonly maxSockets: number;
}

/** A sender with its own sockets, kept alive between requests. */
export function createSender(options: SenderOptions): Sender {
  const agents = new Map<string, HttpAgent>();
  const agentOf = (secure: boolean, lane: Lane): HttpAgent => {
    const name = `${secure ? 'https' : 'http'} ${lane}`;
    const known = agents.get(name);
    if (known !== undefined) return known;
    const settings = { keepAlive: true, maxSockets: options.maxSockets, maxFreeSockets: 64 };
    const agent = secure ? new HttpsAgent(settings) : new HttpAgent(settings);
    agents.set(name, agent);
    return agent;
  };
  return {
    send(request, signal) {
      const url = new URL(request.url);
      const secure = url.protocol === 'https:';
      const headers: Record<string, string | number> = { ...request.headers };
      if (request.body !== undefined) headers['Content-Length'] = request.body.length;
      const start = secure ? httpsRequest : httpRequest;
      const agent = agentOf(secure, request.lane);
      const out = start(url, { method: request.method, headers, agent });
      const answer = receive(out, request.bytesMax, signal, options);
      out.end(request.body);
      return answer;
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

function receive(
  out: ClientRequest,
  bytesMax: number,
  signal: AbortSignal,
  options: SenderOptions,
): Promise<WireResponse> {
  return new Promise((resolve, reject) => {
    const settled = new AbortController();
    let sent = false;
    let answered = false;
    let date: string | undefined;
    const settle = (): boolean => {
      if (settled.signal.aborted) return false;
      settled.abort(DONE);
      signal.removeEventListener('abort', onStop);
      return true;
    };
    const fail = (kind: SendFailure, cause?: unknown): void => {
      if (!settle()) return;
      out.destroy();
      reject(new SendError(kind, sent, date, cause));
    };
    const onStop = (): void => fail('stopped', signal.reason);
    out.on('error', (error: NodeJS.ErrnoException) => {
      fail(answered || error.code?.startsWith('HPE_') ? 'short' : 'network', error);
    });
    out.once('socket', (socket) => {
      // A write is ambiguous from the moment its bytes may leave, not from the moment it was
      // queued.
      if (socket.connecting) socket.once('connect', () => (sent = true));
      else sent = true;
    });
    out.once('response', (response) => {
      answered = true;
      date = response.headers.date;
      collect(response, bytesMax, fail, (bytes) => {
        if (!settle()) return;
        // Answered before the body was taken: the socket is not fit for another request.
        if (!out.writableFinished) out.destroy();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes });
      });
      watchIdle(response, options, settled.signal, fail).catch((error: unknown) => {
        fail('network', error);
      });
    });
    if (signal.aborted) onStop();
    else signal.addEventListener('abort', onStop, { once: true });
  });
}

function collect(
  response: IncomingMessage,
  bytesMax: number,
  fail: (kind: SendFailure, cause?: unknown) => void,
  done: (bytes: Uint8Array) => void,
): void {
  const chunks: Uint8Array[] = [];
  let length = 0;
  response.on('data', (chunk: Uint8Array) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > bytesMax) fail('long');
  });
  response.on('error', (error) => fail('short', error));
  response.once('close', () => fail('short'));
  response.once('end', () => {
    if (!response.complete) return fail('short');
    const bytes = new Uint8Array(length);
    let at = 0;
    for (const chunk of chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    done(bytes);
  });
}

/** One timer per answer, not per chunk: it sleeps again for what a chunk has added. */
async function watchIdle(
  response: IncomingMessage,
  options: SenderOptions,
  settled: AbortSignal,
  fail: (kind: SendFailure) => void,
): Promise<void> {
  const { timing, idleBodyMs } = options;
  let last = timing.monotonic();
  response.on('data', () => {
    last = timing.monotonic();
  });
  while (!settled.aborted) {
    const left = last + idleBodyMs - timing.monotonic();
    if (left <= 0) return fail('idle');
    try {
      await timing.sleep(left, { signal: settled });
    } catch (error) {
      if (!settled.aborted) throw error;
    }
  }
}
