/**
 * Order by UTF-8 bytes, the only order of the project. JavaScript compares UTF-16 code units, which
 * puts U+10000 and above before U+E000 to U+FFFF.
 */

/**
 * Negative, zero or positive as `a` sorts before, with or after `b` by UTF-8 bytes. Both well
 * formed.
 */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return codePointRank(x) - codePointRank(y);
  }
  return a.length - b.length;
}

/**
 * Moves surrogates above the rest of the basic plane: in well-formed text that is code point order.
 */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}

/** The only units that the two orders put in another place, relative to each other. */
const WIDE = /[\ud800-\uffff]/;

/**
 * The order of the keys of one map: `compareUtf8`, at half its price. As long as none of the keys
 * has a unit of `WIDE` the engine's own comparison says the same, also of one of them and any other
 * text, and most keys never have one.
 */
export class KeyOrder {
  #isWide = false;

  /** To be told of each key before it is compared with others that are in the map. */
  note(key: string): void {
    if (!this.#isWide && WIDE.test(key)) this.#isWide = true;
  }

  /** As `compareUtf8`; one of the two must have been noted. */
  readonly compare = (a: string, b: string): number => {
    if (this.#isWide) return compareUtf8(a, b);
    if (a === b) return 0;
    return a < b ? -1 : 1;
  };
}
