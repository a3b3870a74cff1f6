/**
 * SHA-256, the project's only hash. It is hot: `node:crypto` hashes at about 1,560 MB/s here and
 * `@noble/hashes` at 114, so the first is used where the runtime has it and the second elsewhere;
 * the tests use the second as an independent check of the first.
 *
 * Most of what is hashed is about a kilobyte, of which a hash object costs more than the hashing:
 * so all goes through the one-shot function.
 */
import { sha256 } from '@noble/hashes/sha2.js';

const nodeCrypto = globalThis.process?.getBuiltinModule?.('node:crypto');

/** 64 lower-case hex digits: SHA-256 of exact bytes (a string counts as its UTF-8 bytes). */
export function sha256Hex(data: Uint8Array | string): string {
  if (nodeCrypto === undefined) return sha256HexPortable(data);
  return nodeCrypto.hash('sha256', data, 'hex');
}

/** The same without `node:crypto`. */
export function sha256HexPortable(data: Uint8Array | string): string {
  const digest = sha256(typeof data === 'string' ? new TextEncoder().encode(data) : data);
  return Buffer.from(digest).toString('hex');
}

/** Whether text is 64 lower-case hex digits. */
export function isSha256Hex(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
