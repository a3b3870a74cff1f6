/**
 * A strict emulator of the part of the GCS JSON API that clients use for objects: an HTTP server
 * on a port of this machine, one bucket, everything in memory. Its rules are listed in
 * `rules.ts`, each with its source and a switch; its faults in `faults.ts`. It has no code in
 * common with the driver.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Answer, Refusal, refuse } from './answers.ts';
import { type Fault, Faults } from './faults.ts';
import { bad, type WireCall } from './requests.ts';
import type { RuleName } from './rules.ts';
import { Service } from './service.ts';

export interface EmulatorOptions {
  readonly bucket: string;
  /** Wall clock, ms: dates, modification times and the soft limit. */
  readonly now: () => number;
  readonly broken?: readonly RuleName[];
  /** Refuse more than one mutation per second per object name. Default false. */
  readonly softLimit?: boolean;
  /** The only bearer token that is let in. Default: everybody is. */
  readonly token?: string;
  /** What the caller may not do: 403. */
  readonly denied?: readonly ('get' | 'list' | 'create' | 'delete')[];
}

/** One request as it came in. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

export interface Emulator {
  /** For `apiEndpoint`. */
  readonly endpoint: string;
  readonly port: number;
  /** Every request so far. */
  readonly seen: readonly Seen[];
  /** Connections that are open. */
  connections(): number;
  /** Requests without a finished answer whose connection is open. */
  unfinished(): number;
  fault(fault: Fault): void;
  clearFaults(): void;
  /** The bytes stored under a name, past every rule and fault. */
  stored(name: string): Uint8Array | undefined;
  close(): Promise<void>;
}

/** Starts an emulator on a free port of the loopback interface. */
export async function startGcsEmulator(options: EmulatorOptions): Promise<Emulator> {
  const running = new Running(options);
  await running.listen();
  return running;
}

class Running implements Emulator {
  readonly seen: Seen[] = [];
  readonly #options: EmulatorOptions;
  readonly #server: Server;
  readonly #service: Service;
  readonly #faults = new Faults();
  readonly #broken: ReadonlySet<RuleName>;
  readonly #sockets = new Set<Socket>();
  readonly #open = new Set<ServerResponse>();
  readonly #mutations = new Map<string, number>();

  constructor(options: EmulatorOptions) {
    this.#options = options;
    this.#broken = new Set(options.broken);
    const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
    const { bucket, now } = options;
    this.#service = new Service({ bucket, now, broken: this.#broken, pause });
    this.#server = createServer((request, response) => {
      this.#open.add(response);
      response.once('close', () => this.#open.delete(response));
      this.#handle(request, response).catch(() => response.destroy());
    });
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  connections(): number {
    return this.#sockets.size;
  }

  unfinished(): number {
    return this.#open.size;
  }

  fault(fault: Fault): void {
    this.#faults.add(fault);
  }

  clearFaults(): void {
    this.#faults.clear();
  }

  stored(name: string): Uint8Array | undefined {
    return this.#service.stored(name);
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', this.endpoint);
    const method = request.method ?? '';
    this.seen.push({ method, path, query });
    const fault = this.#faults.take(method);
    if (fault?.kind === 'silent') return;
    const call = { method, path, query, headers: request.headers, body: Buffer.concat(chunks) };
    const answer =
      fault?.kind === 'status'
        ? faultAnswer(fault)
        : await this.#answer(call, fault?.kind === 'damage');
    this.#write(response, answer, fault);
  }

  async #answer(call: WireCall, damage: boolean): Promise<Answer> {
    try {
      return await this.#route(call, damage);
    } catch (error) {
      if (error instanceof Refusal) return refuse(error);
      throw error;
    }
  }

  async #route(call: WireCall, damage: boolean): Promise<Answer> {
    this.#authorise(call);
    const path = /^\/(upload\/|download\/)?storage\/v1\/b\/([^/]+)(?:\/o(?:\/([^/]+))?)?$/.exec(
      call.path,
    );
    if (path === null) throw new Refusal(404, 'notFound', 'Not Found');
    const [, kind, bucket = '', object] = path;
    if (decodeURIComponent(bucket) !== this.#options.bucket) {
      throw new Refusal(404, 'notFound', 'The specified bucket does not exist.');
    }
    const { method } = call;
    if (kind === 'upload/') {
      this.#permit('create');
      if (method === 'PUT') return this.#service.resume(call, damage);
      if (method !== 'POST') throw bad('Method');
      this.#limit(call.query.get('name') ?? '');
      return this.#service.upload(call, damage, `${this.endpoint}${call.path}?${call.query}`);
    }
    if (object === undefined) {
      this.#permit('list');
      if (call.path.endsWith('/o') && method === 'GET') return this.#service.list(call);
      throw new Refusal(404, 'notFound', 'Not Found');
    }
    const name = decodeURIComponent(object);
    if (method === 'GET') {
      this.#permit('get');
      return this.#service.get(name, call);
    }
    if (method !== 'DELETE') throw bad('Method');
    this.#permit('delete');
    this.#limit(name);
    return this.#service.delete(name, call);
  }

  #authorise({ headers }: WireCall): void {
    const { token } = this.#options;
    if (token !== undefined && headers.authorization !== `Bearer ${token}`) {
      throw new Refusal(401, 'authError', 'Invalid Credentials');
    }
  }

  #permit(what: 'get' | 'list' | 'create' | 'delete'): void {
    if (!this.#options.denied?.includes(what)) return;
    throw new Refusal(403, 'forbidden', `Caller does not have storage.objects.${what} access.`);
  }

  #limit(name: string): void {
    if (this.#options.softLimit !== true) return;
    const now = this.#options.now();
    const last = this.#mutations.get(name);
    this.#mutations.set(name, now);
    if (last !== undefined && now - last < 1000) {
      throw new Refusal(429, 'rateLimitExceeded', `Too many mutations of ${name}.`);
    }
  }

  #write(response: ServerResponse, answer: Answer, fault: Fault | undefined): void {
    if (fault?.kind === 'silent-after') return;
    if (fault?.kind === 'drop') {
      response.destroy();
      return;
    }
    const { status, headers, body } = fault === undefined ? answer : altered(answer, fault);
    response.sendDate = false;
    if (!this.#broken.has('date')) {
      response.setHeader('Date', new Date(this.#options.now()).toUTCString());
    }
    const length = status === 204 || status === 304 ? {} : { 'Content-Length': body.length };
    response.writeHead(status, { ...headers, ...length });
    const partial = fault?.kind === 'stall' || fault?.kind === 'cut' || fault?.kind === 'reset';
    if (!partial || body.length === 0) {
      response.end(body);
      return;
    }
    response.flushHeaders();
    const { bytes = 0 } = fault;
    const sent = bytes < 0 ? body.length + bytes : Math.min(bytes, body.length - 1);
    response.write(body.subarray(0, sent), () => {
      if (fault.kind === 'cut') response.destroy();
      if (fault.kind === 'reset') response.socket?.resetAndDestroy();
    });
  }
}

function altered(answer: Answer, fault: Fault): Answer {
  if (fault.kind === 'status-after') return faultAnswer(fault);
  if (fault.kind === 'body') return { ...answer, body: Buffer.from(fault.body ?? '') };
  return answer;
}

function faultAnswer({ status = 503, reason = 'backendError', headers = {} }: Fault): Answer {
  const answer = refuse(new Refusal(status, reason, 'Told to.'));
  return { ...answer, headers: { ...answer.headers, ...headers } };
}
