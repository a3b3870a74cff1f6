/**
 * Goal: text of a value is what Go's encoder makes of it, and no other text passes for it but the
 * two spellings of older servers. Method: every character that is escaped, by hand; any text, by a
 * second encoder that goes character by character.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assertGoText, goBytes, goText } from '../../migrate/go-json.ts';
import { refusal } from '../log/forge.ts';

const OBJECT = 'some/object.json';

/** Go's rules once more, without `JSON.stringify`. */
function spelled(text: string): string {
  let result = '"';
  for (const point of text) {
    const code = point.codePointAt(0) ?? 0;
    const short = { 8: '\\b', 9: '\\t', 10: '\\n', 12: '\\f', 13: '\\r', 34: '\\"', 92: '\\\\' };
    const html = code === 0x26 || code === 0x3c || code === 0x3e;
    const line = code === 0x2028 || code === 0x2029;
    if (code in short) result += short[code as keyof typeof short];
    else if (code < 0x20 || html || line) result += `\\u${code.toString(16).padStart(4, '0')}`;
    else result += point;
  }
  return `${result}"`;
}

describe('`goText()`', () => {
  test.each([
    ['quotes and backslashes', 'a"b\\c', '"a\\"b\\\\c"'],
    ['short escapes', '\b\t\n\f\r', '"\\b\\t\\n\\f\\r"'],
    ['other controls, in lower case', '\u0000\u000b\u001f', '"\\u0000\\u000b\\u001f"'],
    [
      'what HTML would mind',
      '<a href="b">&</a>',
      '"\\u003ca href=\\"b\\"\\u003e\\u0026\\u003c/a\\u003e"',
    ],
    ['line separators', '\u2028\u2029', '"\\u2028\\u2029"'],
    [
      'DEL, slashes and what is not ASCII',
      '\u007f/é\ufeff\ufffd\u{1f600}',
      '"\u007f/é\ufeff\ufffd\u{1f600}"',
    ],
  ])('spells %s', (_, value, expected) => {
    expect(goText(value)).toBe(expected);
    expect(spelled(value)).toBe(expected);
  });

  test('spells any text as Go does', () => {
    const character = fc.oneof(
      fc.integer({ min: 0, max: 0x7f }).map((code) => String.fromCharCode(code)),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      fc.constantFrom('\u2028', '\u2029', '\\u0008', '<'),
    );
    fc.assert(
      fc.property(fc.string({ unit: character }), (value) => {
        expect(goText(value)).toBe(spelled(value));
        expect(JSON.parse(goText(value))).toBe(value);
      }),
      { numRuns: 2000, seed: 1 },
    );
  });

  test('keeps the order of fields, leaves out undefined ones, and sorts maps by bytes', () => {
    const map = new Map([
      ['b', '1'],
      ['\u{1f600}', '2'],
      ['\uffee', '3'],
      ['9', '4'],
      ['10', '5'],
    ]);
    const value = { z: 1, none: undefined, a: [true, false, []], map, empty: new Map() };
    const expected =
      '{"z":1,"a":[true,false,[]],' +
      '"map":{"10":"5","9":"4","b":"1","\uffee":"3","\u{1f600}":"2"},"empty":{}}';
    expect(goText(value)).toBe(expected);
    expect(Buffer.from(goBytes(value)).toString()).toBe(expected);
  });

  test('refuses what has no text', () => {
    expect(() => goText(1.5)).toThrow(TypeError);
    expect(() => goText(2 ** 53)).toThrow(TypeError);
    expect(() => goText('\ud800')).toThrow(TypeError);
  });
});

describe('`assertGoText()`', () => {
  const accepts = (text: string, value: string) => assertGoText(OBJECT, text, value);

  test.each([
    ['the newer spelling', '"\\b\\f"', '\b\f'],
    ['the older spelling', '"\\u0008\\u000c"', '\b\f'],
    ['both in one text', '"\\b\\u0008\\f\\u000c"', '\b\b\f\f'],
    ['the older one behind an escaped backslash', '"\\\\\\u0008"', '\\\b'],
    ['what only looks like it', '"\\\\u0008\\\\u000c"', '\\u0008\\u000c'],
    [
      'the real beside what only looks like it',
      '"\\\\u0008\\u0008\\\\\\\\u000c"',
      '\\u0008\b\\\\u000c',
    ],
  ])('accepts %s', (_, text, value) => {
    expect(JSON.parse(text)).toBe(value);
    accepts(text, value);
  });

  test.each([
    ['upper case', '"\\u000C"', '\f', 2],
    ['another control spelled out', '"\\u000a"', '\n', 2],
    ['an escape for what has none', '"\\u0061"', 'a', 1],
    ['an escaped slash', '"\\/"', '/', 1],
    ['a bare `<`', '"<"', '<', 1],
    ['a bare line separator', '"\u2028"', '\u2028', 1],
    ['upper case of an HTML escape', '"\\u003C"', '<', 6],
    ['the replacement character spelled out', '"\\ufffd"', '\ufffd', 1],
    ['white space', ' "a"', 'a', 0],
    ['a newline at the end', '"a"\n', 'a', 3],
    ['a text that is cut', '"a', 'a', 2],
    ['a wrong one behind the older spelling', '"\\u0008\\u0061"', '\ba', 7],
    ['a wrong one behind many', '"\\u0008\\u000c\\b\\u0008<"', '\b\f\b\b<', 21],
    ['a wrong one behind what only looks so', '"\\\\u0008\\u0061"', '\\u0008a', 8],
    ['the older spelling with a backslash too many', '"\\\\u0008"', '\b', 2],
  ])('refuses %s, and says where', (_, text, value, at) => {
    const { message } = refusal(OBJECT, () => accepts(text, value));
    expect(message).toBe(`${OBJECT}: not canonical JSON, first at character ${at}`);
  });

  test('accepts any mixture of the two spellings, and reads it as the same text', () => {
    const part = fc.constantFrom('\b', '\f', '\\', 'u0008', 'u000c', '\\u0008', 'x', '"', '<');
    fc.assert(
      fc.property(fc.array(part), fc.infiniteStream(fc.boolean()), (parts, older) => {
        const spell = (unit: string) => {
          const isOlder = older.next().value === true;
          if (unit === '\b') return isOlder ? '\\u0008' : '\\b';
          if (unit === '\f') return isOlder ? '\\u000c' : '\\f';
          return spelled(unit).slice(1, -1);
        };
        const value = parts.join('');
        const text = `"${[...value].map(spell).join('')}"`;
        expect(JSON.parse(text)).toBe(value);
        accepts(text, value);
      }),
      { numRuns: 1000, seed: 2 },
    );
  });
});
