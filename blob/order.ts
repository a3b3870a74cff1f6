/**
 * Order by UTF-8 bytes, as buckets list. JavaScript compares UTF-16 code units, which puts U+10000
 * and above before U+E000 to U+FFFF.
 */

/**
 * Negative, zero or positive as `a` sorts before, with or after `b` by UTF-8 bytes. Both well
 * formed.
 */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above the basic plane, so they rank above all of it. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
