/**
 * One request of the S3 driver as it went over the wire.
 *
 * A middleware of the command itself, the innermost one, so it works with any client, also a
 * caller's own: it reads the whole body of every answer, errors and list pages included, before the
 * SDK sees it. The SDK reads bodies without an idle limit, leaves those of streams to its caller,
 * and takes a page that is cut or is no page for an empty one. Here a socket is back in its pool or
 * destroyed when the call ends.
 *
 * It lets one request through and no second: a client that retries by itself turns our own success
 * into `exists`.
 */
import type { Readable } from 'node:stream';
import type { Timing } from './blob.ts';
import { parseDate } from './http-headers.ts';
import { DONE } from './signal.ts';

/** A whole answer of the service. Header names are in lower case. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** Why the body of an answer is not whole: it stalled, or it ended before its length. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  readonly kind: 'idle' | 'short';

  constructor(kind: 'idle' | 'short', message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

export interface ExchangeOptions {
  readonly timing: Timing;
  readonly idleBodyMs: number;
}

interface Sendable {
  readonly request: unknown;
}

interface Received {
  readonly response: unknown;
}

/** The response of a request handler, as far as it is used here. */
interface RawResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body?: unknown;
}

export class Exchange {
  readonly #options: ExchangeOptions;
  #sent = false;
  #date: number | undefined;
  #answer: Answer | undefined;
  #failure: unknown;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /** Whether the request was handed to a socket, so that the service may have seen it. */
  get sent(): boolean {
    return this.#sent;
  }

  /** The service's `Date` in ms, from the moment its headers are here. */
  get date(): number | undefined {
    return this.#date;
  }

  /** The answer, once it is whole. */
  get answer(): Answer | undefined {
    return this.#answer;
  }

  /** Why there is no answer. */
  get failure(): unknown {
    return this.#failure;
  }

  /** The middleware; goes in at step `deserialize` with priority `low`. */
  middleware(signal: AbortSignal) {
    return <A extends Sendable, R extends Received>(next: (args: A) => Promise<R>) =>
      async (args: A): Promise<R> => {
        if (this.#sent) throw new Error('one request a call: a repeat was refused');
        this.#sent = true;
        try {
          const result = await next(args);
          const raw = result.response as RawResponse;
          const answer = await this.#receive(raw, methodOf(args.request), signal);
          this.#answer = answer;
          return { ...result, response: replay(raw, answer) };
        } catch (error) {
          this.#failure = error;
          throw error;
        }
      };
  }

  async #receive(raw: RawResponse, method: string, signal: AbortSignal): Promise<Answer> {
    const { statusCode: status, headers } = raw;
    this.#date = parseDate(headers['date']);
    const bytes = await readBody(raw.body, this.#options, signal);
    const bodiless = method === 'HEAD' || status === 204 || status === 304;
    const length = bodiless ? undefined : headers['content-length'];
    if (length !== undefined && Number(length) !== bytes.length) {
      throw new BodyError(
        'short',
        `a body of ${bytes.length} bytes where ${length} were announced`,
      );
    }
    return { status, headers, bytes };
  }
}

/**
 * The answer for the SDK to decode. Without checksum headers: it would verify a stream that nobody
 * reads, and `s3-objects.ts` has the bytes.
 */
function replay(raw: RawResponse, answer: Answer): RawResponse {
  const headers = Object.fromEntries(
    Object.entries(raw.headers).filter(([name]) => !name.startsWith('x-amz-checksum-')),
  );
  return Object.assign(Object.create(Object.getPrototypeOf(raw)), raw, {
    headers,
    body: answer.bytes,
  });
}

function methodOf(request: unknown): string {
  return (request as { readonly method?: string }).method ?? '';
}

/** Reads a body to its end, or destroys it: when it stalls, breaks off, or `signal` aborts. */
async function readBody(
  body: unknown,
  options: ExchangeOptions,
  signal: AbortSignal,
): Promise<Uint8Array> {
  if (body === undefined || body === null) return new Uint8Array(0);
  if (body instanceof Uint8Array) return body;
  const stream = body as Readable;
  const finished = new AbortController();
  const progress = { lastMs: options.timing.monotonic() };
  const stop = (): void => void stream.destroy(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  const watch = watchIdle(stream, progress, options, finished.signal);
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of stream) {
      progress.lastMs = options.timing.monotonic();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof BodyError || signal.aborted) throw error;
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    throw new BodyError('short', `the connection ended after ${length} bytes of the body`, error);
  } finally {
    signal.removeEventListener('abort', stop);
    finished.abort(DONE);
    await watch;
  }
  return Buffer.concat(chunks);
}

/** One timer a body, not one a chunk: it sleeps again for what a chunk has added. */
async function watchIdle(
  stream: Readable,
  progress: { readonly lastMs: number },
  { timing, idleBodyMs }: ExchangeOptions,
  finished: AbortSignal,
): Promise<void> {
  for (;;) {
    const leftMs = progress.lastMs + idleBodyMs - timing.monotonic();
    if (leftMs <= 0) {
      stream.destroy(new BodyError('idle', `no byte of the body for ${idleBodyMs} ms`));
      return;
    }
    try {
      await timing.sleep(leftMs, { signal: finished });
    } catch {
      return;
    }
  }
}
