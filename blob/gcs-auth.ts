/** The slice of the SDK that the driver uses: an endpoint, and headers for a request. */
import type { CallName } from './errors.ts';
import { authError } from './gcs-errors.ts';

/** What the driver needs of a client. A `Storage` of `@google-cloud/storage` is one. */
export interface GcsClient {
  /** Such as the service's own address, or that of an emulator. */
  readonly apiEndpoint: string;
  /** Adds what authorises a request, and answers through `onAuthenticated`; sends nothing. */
  makeAuthenticatedRequest(
    request: { uri: string; method: string; headers: Record<string, string> },
    options: { onAuthenticated(error: Error | null, request?: { headers?: unknown }): void },
  ): unknown;
}

interface Unauthorised {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The headers of a request with what authorises it. May fetch a token, which is a request to the
 * token service and not to the bucket.
 *
 * @throws the reason of `signal`, or BlobError `unauthenticated` or `unavailable`; nothing was sent
 */
export function authorise(
  call: CallName,
  client: GcsClient,
  { method, url, headers }: Unauthorised,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => reject(signal.reason);
    const onAuthenticated = (error: Error | null, request?: { headers?: unknown }): void => {
      signal.removeEventListener('abort', onAbort);
      if (error === null || error === undefined) resolve(plain(request?.headers));
      else reject(authError(call, error));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const plainHeaders = { ...headers, 'User-Agent': 'bucketstore' };
    client.makeAuthenticatedRequest(
      { uri: url, method, headers: plainHeaders },
      { onAuthenticated },
    );
  });
}

/** Newer clients give a `Headers`, older ones a record. */
function plain(headers: unknown): Readonly<Record<string, string>> {
  if (headers instanceof Headers) return Object.fromEntries(headers);
  const entries = Object.entries(headers ?? {});
  return Object.fromEntries(entries.filter((entry) => typeof entry[1] === 'string'));
}
