/** What a failed file system call means as a `BlobError`, and what a person can do about it. */
import { BlobError, type BlobErrorCode, type BlobOperation, isBlobError } from './errors.ts';

interface Meaning {
  readonly code: BlobErrorCode;
  readonly advice: string;
  readonly retryable?: boolean;
}

const FULL: Meaning = {
  code: 'unavailable',
  advice: 'the disk is full or the quota is used up; free space and try again',
  retryable: false,
};
const RIGHTS: Meaning = {
  code: 'forbidden',
  advice: 'this user may not; give it read and write access to the directory and all below it',
};
const HANDLES: Meaning = {
  code: 'throttled',
  advice: 'too many files are open; ask for less at once or raise the limit (ulimit -n)',
};
const NO_LINKS: Meaning = {
  code: 'unsupported',
  advice: 'this file system has no hard links; use a directory on one that has',
};

const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ['ENOSPC', FULL],
  ['EDQUOT', FULL],
  ['EACCES', RIGHTS],
  ['EPERM', RIGHTS],
  ['EROFS', { code: 'forbidden', advice: 'the file system is read-only; mount it for writing' }],
  ['EMFILE', HANDLES],
  ['ENFILE', HANDLES],
  ['ENOTSUP', NO_LINKS],
  ['EOPNOTSUPP', NO_LINKS],
  ['ENOSYS', NO_LINKS],
  ['EXDEV', NO_LINKS],
  [
    'ENAMETOOLONG',
    { code: 'unsupported', advice: 'the path is too long; use a shorter key or directory' },
  ],
]);

const OTHER: Meaning = {
  code: 'unavailable',
  advice: 'the file system failed; look at the disk or the mount',
};

/** The POSIX name of a failure, or '' for what is none. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** Whether a failure says that there is nothing of that name. */
export function isAbsent(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP';
}

/**
 * Whether a failed call surely did nothing. A local file system's refusals are definite; an input
 * or output error, or anything from a file server that stopped answering, is not.
 */
export function isRefusal(error: unknown): boolean {
  return MEANINGS.has(codeOf(error)) || isAbsent(error);
}

/**
 * What to do about a call that the file system did not allow; null for any other failure, such as a
 * service's refusal.
 */
export function rightsAdvice({ cause }: BlobError): string | null {
  const meaning = MEANINGS.get(codeOf(cause));
  return meaning?.code === 'forbidden' ? meaning.advice : null;
}

/**
 * The `BlobError` for a failed file system call; one that is a `BlobError` already stays as it is.
 */
export function fileError(
  operation: BlobOperation,
  key: string,
  error: unknown,
  ambiguous = false,
): BlobError {
  if (isBlobError(error)) return error;
  const { code, advice, retryable } = MEANINGS.get(codeOf(error)) ?? OTHER;
  const detail = error instanceof Error ? error.message : String(error);
  return new BlobError({
    code,
    operation,
    key,
    message: `${advice} (${detail})`,
    ...(retryable !== undefined && { retryable }),
    ambiguous,
    cause: error,
  });
}
