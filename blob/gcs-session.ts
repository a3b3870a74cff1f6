/** One authorised request within the limits of its call: deadline, signal, and `close`. */
import { type CallOptions, DEADLINE_MS_DEFAULT, type Lane, type Timing } from './blob.ts';
import type { CallName } from './errors.ts';
import { authorise, type GcsClient } from './gcs-auth.ts';
import { sendError } from './gcs-errors.ts';
import { SendError, type Sender, type WireRequest, type WireResponse } from './gcs-send.ts';
import { abortedError, DONE, onAbort, timeoutError } from './signal.ts';
import { checkStart } from './validate.ts';

/** A call of the port with its limits; one call may take several requests. */
export interface Call extends CallName {
  readonly signal: AbortSignal | undefined;
  readonly lane: Lane;
  readonly deadlineMs: number;
  /** When the whole call ends, on the monotonic clock. */
  readonly until: number;
}

/** Owns the client and the sockets. */
export class GcsSession {
  readonly #client: GcsClient;
  readonly #sender: Sender;
  readonly #timing: Timing;
  readonly #running = new Set<AbortController>();
  #closed = false;

  constructor(client: GcsClient, sender: Sender, timing: Timing) {
    this.#client = client;
    this.#sender = sender;
    this.#timing = timing;
  }

  /** Starts the clock of a call. */
  begin(name: CallName, options: CallOptions = {}): Call {
    const { signal, lane = 'read', deadlineMs = DEADLINE_MS_DEFAULT } = options;
    const until = this.#timing.monotonic() + deadlineMs;
    return { ...name, signal, lane, deadlineMs, until };
  }

  /**
   * Sends one request. Any whole answer is returned, whatever its status.
   * @throws BlobError for everything else; ambiguous for a write from when it had a connection
   */
  async send(call: Call, request: Omit<WireRequest, 'lane'>): Promise<WireResponse> {
    const { operation, key, lane } = call;
    checkStart(call, call.signal, this.#closed);
    const left = call.until - this.#timing.monotonic();
    if (left <= 0) throw timeoutError(operation, key, 'no time left; nothing was sent', false);
    const limit = new AbortController();
    const timer = new AbortController();
    const forget = onAbort(call.signal, () => limit.abort(DONE));
    this.#timing.sleep(left, { signal: timer.signal }).then(
      () => limit.abort(DONE),
      () => {},
    );
    this.#running.add(limit);
    try {
      const headers = await authorise(call, this.#client, request, limit.signal);
      return await this.#sender.send({ ...request, headers, lane }, limit.signal);
    } catch (error) {
      throw this.#explain(call, error);
    } finally {
      this.#running.delete(limit);
      timer.abort(DONE);
      forget();
    }
  }

  /** Ends what is running, as `aborted`, and destroys the sockets. */
  close(): void {
    this.#closed = true;
    for (const limit of this.#running) limit.abort(DONE);
    this.#sender.close();
  }

  #explain(call: Call, error: unknown): unknown {
    const { operation, key, signal } = call;
    const sent = error instanceof SendError && error.sent;
    const stopped = error === DONE || (error instanceof SendError && error.kind === 'stopped');
    if (!stopped) return error instanceof SendError ? sendError(call, error) : error;
    if (signal?.aborted) return abortedError(operation, key, signal.reason, sent);
    if (this.#closed) return abortedError(operation, key, new Error('the bucket was closed'), sent);
    return timeoutError(operation, key, `no answer within ${call.deadlineMs} ms`, sent);
  }
}
