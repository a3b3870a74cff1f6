/**
 * Session credentials that are renewed: before they expire, and whenever the service says that they
 * have. The SDK's own memory asks a provider once for credentials without a date and never again;
 * and inside the last five minutes of those with one it asks on every request, and fails with it.
 */
import type { Timing } from './blob.ts';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** From when on the service refuses them. */
  readonly expiration?: Date;
}

/**
 * Fetches credentials. Called again at each renewal, so it must read its source (a token file)
 * anew.
 */
export type S3CredentialSource = () => Promise<S3Credentials>;

/** The form in which the SDK asks for credentials. */
export interface RenewingProvider {
  (options?: { readonly forceRefresh?: boolean }): Promise<S3Credentials>;
  /** Tells the SDK to put no memory of its own in front. */
  readonly memoized: true;
}

const MARGIN_MS_MAX = 300_000;

interface Held {
  readonly credentials: S3Credentials;
  /** Wall clock, ms. */
  readonly renewAtMs: number;
  readonly expiresAtMs: number;
}

/**
 * A provider that keeps what `source` gave until a quarter of its life (at most 5 minutes) is left;
 * one fetch at a time however many ask. While a renewal fails the old ones serve until they expire;
 * after that the failure is the answer, and the next call asks `source` again. `forceRefresh`
 * forgets what is held.
 */
export function renewingProvider(source: S3CredentialSource, timing: Timing): RenewingProvider {
  let held: Held | undefined;
  let fetching: Promise<S3Credentials> | undefined;
  const fetch = async (): Promise<S3Credentials> => {
    const credentials = await source();
    const nowMs = timing.now();
    const expiresAtMs = credentials.expiration?.getTime() ?? Number.POSITIVE_INFINITY;
    const marginMs = Math.min(MARGIN_MS_MAX, Math.max(0, expiresAtMs - nowMs) / 4);
    held = { credentials, expiresAtMs, renewAtMs: expiresAtMs - marginMs };
    return credentials;
  };
  const renew = (): Promise<S3Credentials> => {
    fetching ??= fetch().finally(() => {
      fetching = undefined;
    });
    return fetching;
  };
  const provide = async (options?: { readonly forceRefresh?: boolean }): Promise<S3Credentials> => {
    if (options?.forceRefresh) held = undefined;
    if (held !== undefined && timing.now() < held.renewAtMs) return held.credentials;
    try {
      return await renew();
    } catch (error) {
      if (held !== undefined && timing.now() < held.expiresAtMs) return held.credentials;
      throw error;
    }
  };
  return Object.assign(provide, { memoized: true as const });
}
