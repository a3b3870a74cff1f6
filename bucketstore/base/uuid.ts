/** UUIDs name worlds, incarnations, stores and operations. They are text, and compared as text. */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Whether text is a UUID as the formats spell it: lower-case hex with dashes at 8, 13, 18 and 23 and the
 * variant nibble 8, 9, a or b. The version nibble is free: an idempotency key makes one of its own.
 */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
