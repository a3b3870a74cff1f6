/** Settings of the S3 driver. */
import type { Timing } from './blob.ts';
import type { S3CredentialSource, S3Credentials } from './s3-credentials.ts';
import type { S3Api } from './s3-session.ts';

export interface S3BucketOptions {
  readonly bucket: string;
  /** Every key is kept under `prefix/`; keys outside are not seen. Default: the whole bucket. */
  readonly prefix?: string | undefined;
  /**
   * A client of the caller's own, in place of `region` to `maxSockets`; `close()` leaves it open.
   */
  readonly client?: S3Api | undefined;
  /** Another service than AWS, as a URL. */
  readonly endpoint?: string | undefined;
  /** Default: what the SDK finds in the environment; `us-east-1` with an endpoint. */
  readonly region?: string | undefined;
  /** Default: what the SDK finds in the environment. */
  readonly credentials?: S3Credentials | S3CredentialSource | undefined;
  /** The bucket in the path instead of the host name. Default: with an endpoint only. */
  readonly forcePathStyle?: boolean | undefined;
  /**
   * `required` sends no checksum headers that older servers refuse; Content-MD5 is sent all the
   * same.
   */
  readonly checksums?: 'default' | 'required' | undefined;
  /** Connections at once. Default 256, so that the lanes' limits are met before the pool's. */
  readonly maxSockets?: number | undefined;
  /** An answer whose body says nothing for so long ends as `timeout`, ms. Default 3,000. */
  readonly idleBodyMs?: number | undefined;
  readonly timing: Timing;
}
