/**
 * Sends the S3 driver's requests: one each, ended by its signal or deadline whatever the client
 * does, and with credentials that are fetched anew after the service has called them expired.
 */
import { type CallOptions, DEADLINE_MS_DEFAULT } from './blob.ts';
import type { BlobError, CallName } from './errors.ts';
import { answerError, areCredentialsStale, sendError, unsentError } from './s3-errors.ts';
import { type Answer, Exchange, type ExchangeOptions } from './s3-exchange.ts';
import { abortedError, DONE, onAbort, timeoutError } from './signal.ts';
import { checkStart } from './validate.ts';

/** What is used of a command of `@aws-sdk/client-s3`. */
export interface S3Command {
  readonly middlewareStack: {
    add(
      middleware: ReturnType<Exchange['middleware']>,
      options: { readonly step: 'deserialize'; readonly priority: 'low'; readonly name: string },
    ): void;
  };
}

/** What is used of an `S3Client`: a test may give one whose request handler it programs. */
export interface S3Api {
  send(command: S3Command, options: { readonly abortSignal: AbortSignal }): Promise<unknown>;
  readonly config: {
    readonly credentials?:
      | ((options?: { readonly forceRefresh?: boolean }) => Promise<unknown>)
      | undefined;
  };
  destroy(): void;
}

/** A whole answer, of whatever status. */
export interface Reply {
  readonly call: CallName;
  readonly exchange: Exchange;
  readonly answer: Answer;
  /** What the SDK decoded; undefined when it took the answer for an error or could not read it. */
  readonly output: unknown;
}

interface Outcome {
  readonly output?: unknown;
  readonly error?: unknown;
}

export class S3Session {
  readonly #client: S3Api;
  readonly #options: ExchangeOptions;
  #closed = false;
  #everAnswered = false;
  #stale = false;
  #renewal: Promise<unknown> | undefined;

  constructor(client: S3Api, options: ExchangeOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** Calls from now on reject with `invalid`. Answers whether it was open until now. */
  close(): boolean {
    const open = !this.#closed;
    this.#closed = true;
    return open;
  }

  /** @throws BlobError when no whole answer came; its status is not looked at */
  send(call: CallName, command: S3Command, options: CallOptions): Promise<Reply> {
    const { operation, key } = call;
    const { signal, deadlineMs = DEADLINE_MS_DEFAULT } = options;
    checkStart(call, signal, this.#closed);
    const exchange = new Exchange(this.#options);
    return new Promise((resolve, reject) => {
      const attempt = new AbortController();
      const timer = new AbortController();
      const end = (): void => {
        timer.abort(DONE);
        forget();
      };
      const fail = (error: BlobError): void => {
        end();
        reject(error);
        attempt.abort(error);
      };
      const forget = onAbort(signal, () =>
        fail(abortedError(operation, key, signal?.reason, exchange.sent)),
      );
      this.#options.timing.sleep(deadlineMs, { signal: timer.signal }).then(
        () => fail(timeoutError(operation, key, late(deadlineMs, exchange), exchange.sent)),
        () => {},
      );
      this.#exchange(call, command, exchange, attempt.signal).then(
        (reply) => {
          end();
          resolve(reply);
        },
        (error: unknown) => {
          end();
          reject(error);
        },
      );
    });
  }

  async #exchange(
    call: CallName,
    command: S3Command,
    exchange: Exchange,
    signal: AbortSignal,
  ): Promise<Reply> {
    await this.#renew(call);
    signal.throwIfAborted();
    const middleware = exchange.middleware(signal);
    command.middlewareStack.add(middleware, {
      step: 'deserialize',
      priority: 'low',
      name: 'bucketstoreExchange',
    });
    const { output, error } = await this.#outcome(command, signal);
    const { answer } = exchange;
    if (answer === undefined) {
      if (!exchange.sent) throw unsentError(call, error, this.#everAnswered);
      throw sendError(call, exchange, error);
    }
    this.#everAnswered = true;
    if (answer.status >= 400 && areCredentialsStale(answer)) {
      this.#stale = true;
      throw answerError(call, exchange, answer);
    }
    return { call, exchange, answer, output };
  }

  async #outcome(command: S3Command, abortSignal: AbortSignal): Promise<Outcome> {
    try {
      return { output: await this.#client.send(command, { abortSignal }) };
    } catch (error) {
      return { error };
    }
  }

  /**
   * Fetches credentials anew when the last answer said that they have expired; one fetch for all
   * calls.
   */
  async #renew(call: CallName): Promise<void> {
    const { credentials } = this.#client.config;
    if (!this.#stale || credentials === undefined) return;
    this.#renewal ??= credentials({ forceRefresh: true }).finally(() => {
      this.#renewal = undefined;
    });
    try {
      await this.#renewal;
      this.#stale = false;
    } catch (error) {
      throw unsentError(call, error, true);
    }
  }
}

function late(deadlineMs: number, { sent }: Exchange): string {
  return sent ? `no answer within ${deadlineMs} ms` : `not sent within ${deadlineMs} ms`;
}
