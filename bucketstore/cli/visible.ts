/** Text of others on a terminal. Pure. */

/**
 * `text` with its control characters (C0, DEL, C1) written out, as in `\x1b`, so that a terminal
 * shows them instead of acting on them, and one line stays one line. TAB stays: it does no harm.
 * So do the signs that turn the direction of writing, which are part of words and of paths.
 */
export function visible(text: string): string {
  let shown = '';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (!isControl(unit) || unit === TAB) continue;
    shown += `${text.slice(from, i)}\\x${unit.toString(16).padStart(2, '0')}`;
    from = i + 1;
  }
  return from === 0 ? text : shown + text.slice(from);
}

const TAB = 0x09;

function isControl(unit: number): boolean {
  return unit < 0x20 || (unit >= 0x7f && unit <= 0x9f);
}
