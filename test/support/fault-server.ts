/**
 * An S3 server that fails on command, for tests over real sockets: what is on the wire, not what a
 * double of our own port thinks is. It keeps objects in a map, answers as much of S3 as the driver
 * asks, counts requests and sockets, and does to chosen requests what networks, proxies and
 * services do.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import {
  answerS3,
  errorXml,
  type FaultRequest,
  parseRequest,
  type S3Answer,
  type StoredObject,
} from './fault-s3.ts';

/**
 * What happens instead of an answer. `applied` says whether the request takes effect all the same.
 *
 * | kind | what the client sees |
 * |---|---|
 * | `drop` | the connection is reset before any byte of an answer |
 * | `answer` | this status, with an error document |
 * | `error-body` | status 200 with an error document in its body |
 * | `page` | this status with a page of HTML, as proxies send |
 * | `silent` | nothing, ever |
 * | `stall` | headers and so many bytes of the right body, then nothing |
 * | `cut` | headers and so many bytes, then a reset |
 * | `short` | all of the body but its last byte, then a clean end |
 * | `corrupt` | the right answer with one bit of its body changed |
 */
export type Fault =
  | { readonly kind: 'drop'; readonly applied: boolean }
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly code?: string;
      readonly applied?: boolean;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'error-body'; readonly applied?: boolean }
  | { readonly kind: 'page'; readonly status: number }
  | { readonly kind: 'silent'; readonly applied: boolean }
  | { readonly kind: 'stall'; readonly afterBytes: number }
  | { readonly kind: 'cut'; readonly afterBytes: number }
  | { readonly kind: 'short' }
  | { readonly kind: 'corrupt' };

/** Which requests a fault is for; the first rule that matches decides. */
export interface FaultRule {
  readonly method?: string | undefined;
  /** The object's key; empty for a list. */
  readonly key?: string | RegExp | undefined;
  /** From the nth matching request on, from 1. Default 1. */
  readonly nth?: number | undefined;
  /** For so many requests. Default 1. */
  readonly times?: number | undefined;
  readonly fault: Fault;
}

export interface FaultServer {
  readonly url: string;
  readonly objects: Map<string, StoredObject>;
  /** Every request that arrived whole, in order. */
  readonly requests: readonly FaultRequest[];
  /** Connections that are open now. */
  readonly openSockets: number;
  /** Connections that were ever made. */
  readonly connections: number;
  /** Refuses requests that carry checksum headers with this status, as older servers do. */
  refuseChecksums: 501 | 403 | undefined;
  /** Session tokens in it are answered `ExpiredToken`; undefined takes any. */
  validTokens: ReadonlySet<string> | undefined;
  program(rule: FaultRule): void;
  /** Forgets rules and requests; objects and sockets stay. */
  reset(): void;
  close(): Promise<void>;
}

/** Listens on a free port of the loopback interface. */
export async function startFaultServer(): Promise<FaultServer> {
  const server = new FaultS3();
  await server.listen();
  return server;
}

class FaultS3 implements FaultServer {
  readonly objects = new Map<string, StoredObject>();
  readonly #requests: FaultRequest[] = [];
  readonly #rules: { readonly rule: FaultRule; seen: number }[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  refuseChecksums: 501 | 403 | undefined;
  validTokens: ReadonlySet<string> | undefined;
  #connections = 0;

  constructor() {
    this.#server = createServer((request, response) => this.#serve(request, response));
    this.#server.keepAliveTimeout = 0;
    this.#server.on('connection', (socket) => {
      this.#connections += 1;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => {});
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get requests(): readonly FaultRequest[] {
    return this.#requests;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  get connections(): number {
    return this.#connections;
  }

  program(rule: FaultRule): void {
    this.#rules.push({ rule, seen: 0 });
  }

  reset(): void {
    this.#rules.length = 0;
    this.#requests.length = 0;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #serve(incoming: IncomingMessage, response: ServerResponse): void {
    const chunks: Uint8Array[] = [];
    incoming.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    incoming.on('error', () => {});
    incoming.on('end', () => {
      const request = parseRequest(incoming, Buffer.concat(chunks));
      this.#requests.push(request);
      const refusal = this.#refusal(request);
      if (refusal !== undefined) write(response, refusal);
      else this.#answer(request, response);
    });
  }

  #refusal({ headers }: FaultRequest): S3Answer | undefined {
    const token = headers['x-amz-security-token'];
    if (this.validTokens !== undefined && !this.validTokens.has(String(token))) {
      return errorXml(400, 'ExpiredToken', 'The provided token has expired.');
    }
    const named = Object.keys(headers).find((name) => /^x-amz-(sdk-)?checksum-/.test(name));
    if (this.refuseChecksums !== undefined && named !== undefined) {
      const code = this.refuseChecksums === 501 ? 'NotImplemented' : 'AccessDenied';
      return errorXml(this.refuseChecksums, code, `A header is not supported: ${named}`);
    }
    return undefined;
  }

  #answer(request: FaultRequest, response: ServerResponse): void {
    const fault = this.#faultOf(request);
    const right = isApplied(fault) ? answerS3(this.objects, request) : NOTHING;
    switch (fault?.kind) {
      case 'drop':
        response.socket?.destroy();
        break;
      case 'silent':
        break;
      case 'stall':
      case 'cut':
      case 'short':
        writePart(response, right, fault);
        break;
      default:
        write(response, fault === undefined ? right : replaced(right, fault));
    }
  }

  #faultOf(request: FaultRequest): Fault | undefined {
    for (const entry of this.#rules) {
      const { method, key, nth = 1, times = 1, fault } = entry.rule;
      if (method !== undefined && method !== request.method) continue;
      if (typeof key === 'string' && key !== request.key) continue;
      if (key instanceof RegExp && !key.test(request.key)) continue;
      entry.seen += 1;
      if (entry.seen >= nth && entry.seen < nth + times) return fault;
    }
    return undefined;
  }
}

const PAGE = '<html><body><h1>Something in between</h1></body></html>';
const NOTHING: S3Answer = { status: 500, headers: {}, body: Buffer.alloc(0) };

/** Faults of an answer's body come after the fact; the others say it, or stand before it. */
function isApplied(fault: Fault | undefined): boolean {
  switch (fault?.kind) {
    case 'drop':
    case 'silent':
    case 'answer':
    case 'error-body':
      return fault.applied ?? false;
    case 'page':
      return false;
    default:
      return true;
  }
}

function replaced(
  right: S3Answer,
  fault: Extract<Fault, { kind: 'answer' | 'error-body' | 'page' | 'corrupt' }>,
): S3Answer {
  switch (fault.kind) {
    case 'answer': {
      const { status, code = 'Programmed', headers } = fault;
      const answer = errorXml(status, code, 'as programmed');
      return { ...answer, headers: { ...answer.headers, ...headers } };
    }
    case 'error-body':
      return { ...errorXml(500, 'InternalError', 'late'), status: 200 };
    case 'page':
      return { status: fault.status, headers: {}, body: Buffer.from(PAGE) };
    case 'corrupt':
      return { ...right, body: corrupted(right.body) };
    default:
      return fault satisfies never;
  }
}

function corrupted(body: Buffer): Buffer {
  const copy = Buffer.from(body);
  copy[0] = (copy[0] ?? 0) ^ 1;
  return copy;
}

function write(response: ServerResponse, { status, headers, body, head }: S3Answer): void {
  // A HEAD is told the length of the body that it is not sent.
  const length = headers['Content-Length'] ?? String(body.length);
  response.writeHead(status, { ...headers, 'Content-Length': length });
  response.end(head ? undefined : body);
}

function writePart(
  response: ServerResponse,
  { status, headers, body }: S3Answer,
  fault: Extract<Fault, { kind: 'stall' | 'cut' | 'short' }>,
): void {
  response.writeHead(status, { ...headers, 'Content-Length': String(body.length) });
  response.flushHeaders();
  const end = fault.kind === 'short' ? body.length - 1 : fault.afterBytes;
  response.write(body.subarray(0, end), () => {
    if (fault.kind === 'cut') response.socket?.resetAndDestroy();
    if (fault.kind === 'short') response.socket?.end();
  });
}
