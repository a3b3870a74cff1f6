/** The real SDK over answers that a test writes: no socket, no port. */
import { Readable } from 'node:stream';
import { S3Client } from '@aws-sdk/client-s3';

export interface ScriptedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ScriptedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Readable;
}

export interface Script {
  readonly client: S3Client;
  readonly requests: readonly ScriptedRequest[];
  /**
   * Resolves when the next request arrives: the SDK reads files on its way, which no clock drains.
   */
  arrival(): Promise<void>;
}

/** A client whose requests get these answers in order; an error is thrown as the transport's. */
export function scriptedS3(answers: readonly (ScriptedAnswer | Error | 'never')[]): Script {
  const requests: ScriptedRequest[] = [];
  const rest = answers.values();
  let arrived = (): void => {};
  const handle = (request: ScriptedRequest): Promise<{ readonly response: object }> => {
    requests.push(request);
    arrived();
    const next = rest.next();
    if (next.done) throw new Error('a request beyond the script');
    const answer = next.value;
    if (answer === 'never') return new Promise(() => {});
    if (answer instanceof Error) throw answer;
    const { status: statusCode, headers = {}, body = '' } = answer;
    const stream = typeof body === 'string' ? Readable.from(chunksOf(body)) : body;
    return Promise.resolve({ response: { statusCode, headers: { ...headers }, body: stream } });
  };
  const client = new S3Client({
    endpoint: 'http://s3.test',
    region: 'us-east-1',
    credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    forcePathStyle: true,
    maxAttempts: 1,
    requestHandler: { handle, metadata: { handlerProtocol: 'http/1.1' } } as never,
  });
  const arrival = (): Promise<void> =>
    new Promise((resolve) => {
      arrived = resolve;
    });
  return { client, requests, arrival };
}

function chunksOf(text: string): readonly Buffer[] {
  const bytes = Buffer.from(text);
  return bytes.length === 0 ? [] : [bytes.subarray(0, 1), bytes.subarray(1)];
}

/** An error document. */
export function errorBody(code: string, message = 'as written'): string {
  return `<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
}

/** A page of a list. */
export function pageBody(keys: readonly string[], truncated = false, token?: string): string {
  const contents = keys.map(
    (key) => `<Contents><Key>${key}</Key><ETag>&quot;e&quot;</ETag><Size>1</Size>
<LastModified>2024-01-01T00:00:00.789Z</LastModified></Contents>`,
  );
  const next = token === undefined ? '' : `<NextContinuationToken>${token}</NextContinuationToken>`;
  return `<ListBucketResult><IsTruncated>${truncated}</IsTruncated>${next}${contents.join('')}
</ListBucketResult>`;
}
