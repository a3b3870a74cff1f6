/**
 * Numbers in documents: decimal syntax only. `Number()` also takes exponents, hexadecimal, white
 * space and `Infinity`, and prints small numbers with an exponent; one number must have one
 * spelling here.
 */

/** The number of a sign or none, digits, and at most one point; null for any other text. */
export function parseDecimal(text: string): number | null {
  if (!/^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)$/.test(text)) return null;
  const number = Number(text);
  // Minus zero has no spelling of its own.
  return number === 0 ? 0 : number;
}

/**
 * The shortest digits that give the number back, without exponent.
 * @param number 0 to 1
 */
export function formatDecimal(number: number): string {
  if (!(number >= 0 && number <= 1)) throw new RangeError(`expected 0 to 1, got ${number}`);
  const [digits = '', exponent] = String(number).split('e-');
  if (exponent === undefined) return digits;
  return `0.${'0'.repeat(Number(exponent) - 1)}${digits.replace('.', '')}`;
}

/** Whether text is the one spelling of a number of 0 to 1: `0`, `0.75`, `1`. */
export function isCanonicalDecimal(text: string): boolean {
  const number = parseDecimal(text);
  return number !== null && number >= 0 && number <= 1 && formatDecimal(number) === text;
}
