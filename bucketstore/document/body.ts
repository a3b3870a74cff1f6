/** Bodies: what the author wrote, kept byte for byte. */
import { NEWLINE } from '../base/ascii.ts';
import { isSha256Hex, sha256Hex } from '../base/digest.ts';

/** Largest body, bytes. */
export const BODY_BYTES_MAX = 1_048_576;

const PREFIX = 'sha256-';

/** SHA-256 of a body; 64 hex, as records hold it. */
export function bodyHash(body: Uint8Array): string {
  return sha256Hex(body);
}

/** A hash as users and stored versions spell it: `sha256-` and 64 hex. */
export function formatHash(hash: string): string {
  return PREFIX + hash;
}

/** The 64 hex of a hash as users and stored versions spell it; null for any other text. */
export function parseHash(text: string): string | null {
  if (!text.startsWith(PREFIX)) return null;
  const hash = text.slice(PREFIX.length);
  return isSha256Hex(hash) ? hash : null;
}

/**
 * The body after an append: the old one, a newline when it has text that does not end in one, and
 * the new content. May come out above `BODY_BYTES_MAX`; the caller refuses that.
 */
export function appendBody(old: Uint8Array, content: Uint8Array): Uint8Array {
  const joint = old.length > 0 && old[old.length - 1] !== NEWLINE ? 1 : 0;
  const body = new Uint8Array(old.length + joint + content.length);
  body.set(old);
  if (joint === 1) body[old.length] = NEWLINE;
  body.set(content, old.length + joint);
  return body;
}
