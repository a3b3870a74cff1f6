/** UUIDs name worlds, incarnations, stores and operations. They are text, and compared as text. */
import { sha256Hex } from './digest.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Whether text is a UUID as the formats spell it: lower-case hex with dashes at 8, 13, 18 and 23
 * and the variant nibble 8, 9, a or b. The version nibble is free: an idempotency key makes one of
 * its own.
 */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** The UUID that a text stands for, the same everywhere: its SHA-256 in the shape of version 8. */
export function uuidOf(text: string): string {
  const hex = sha256Hex(text);
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const groups = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ];
  return groups.join('-');
}
