/**
 * Goal: whatever is not exactly what we would have written is refused, by name. Method: take a slot
 * and a marker that use every field, and remove, rename, repeat, reorder and retype each, under
 * checksums that are right; then damage that checksums catch.
 */
import { describe, expect, test } from 'vitest';
import { canonicalText } from '../../bucketstore/base/canonical.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { encodeMarker, recogniseHead } from '../../bucketstore/log/marker.ts';
import { MARKER_KEY, slotKey } from '../../bucketstore/log/names.ts';
import type { Entry } from '../../bucketstore/log/records.ts';
import { decodeSlot, encodeSlot, type SlotInput } from '../../bucketstore/log/slot.ts';
import {
  changed,
  type Loose,
  placesOf,
  putTogether,
  refusal,
  takeApart,
  withChecksum,
} from './forge.ts';
import {
  archive,
  hashOf,
  INCARNATION,
  inlined,
  slotInput,
  uuidOf,
  WORLD,
  write,
} from './values.ts';

const first = sequence(300);
const key = slotKey(first);
const full = (): SlotInput => {
  const metadata = { 10: 'ten', 9: 'nine', agent: 'ann', tags: 'a,b' };
  const entries: Entry[] = [
    inlined(1, 'one', { group: 2, agent: 'ann', catalog: { title: 'é', metadata } }),
    archive(2, { agent: 'bob' }),
    write(3),
    inlined(4, 'four'),
    archive(5, { group: 2 }),
    write(6, { verb: 'append', version: 5, first: 3 }),
  ];
  return slotInput(entries, ['one', 'four'], { first });
};
const controls: Entry[] = [
  { kind: 'floor', op: uuidOf(1), at: sequence(200), mutation: sequence(199) },
  {
    kind: 'barrier',
    op: uuidOf(1),
    plan: hashOf(1),
    kept: [
      [sequence(9), 1],
      [sequence(10), 1],
    ],
    schema1: true,
  },
  { kind: 'clear', op: uuidOf(1), plan: hashOf(1) },
  { kind: 'pin', op: uuidOf(1), id: 'backup-1', owner: 'ann', expires: 1_790_000_000 },
  { kind: 'unpin', op: uuidOf(1), id: 'backup-1' },
  { kind: 'seal', op: uuidOf(1), reason: 'move', successor: uuidOf(2), location: 'gs://b/p' },
];
const slots: [string, Uint8Array][] = [
  ['mutations', encodeSlot(full()).bytes],
  ...controls.map((entry): [string, Uint8Array] => [
    entry.kind,
    encodeSlot(slotInput([entry], [], { first })).bytes,
  ]),
];
/**
 * Fields that may be absent, or hold null, or any text: dropping or replacing them alone is valid.
 */
const optional = /\.(group|schema1|agent)$|metadata(\.(9|10|tags))?$/;

function headerOf(bytes: Uint8Array): Loose {
  return JSON.parse(takeApart(bytes).header) as Loose;
}

function forged(bytes: Uint8Array, header: Loose): Uint8Array {
  return putTogether(canonicalText(header), takeApart(bytes).rest);
}

describe.each(slots)('a slot of %s', (_, bytes) => {
  const header = headerOf(bytes);
  const places = placesOf(header);
  const named = places.filter((path) => typeof path.at(-1) === 'string');

  test('is valid as it is', () => {
    expect(decodeSlot(key, bytes).slot.first).toBe(300);
    expect(Buffer.compare(forged(bytes, header), bytes)).toBe(0);
  });

  test('is refused with a field missing', () => {
    for (const path of named.filter((step) => !optional.test(step.join('.')))) {
      const forgery = changed(header, path, (at, step) => Reflect.deleteProperty(at, step));
      refusal(key, () => decodeSlot(key, forged(bytes, forgery)));
    }
  });

  test('is refused with a field more, anywhere, whatever its name', () => {
    const objects = places
      .filter((path) => !path.includes('metadata'))
      .map((path) => path.slice(0, -1));
    for (const path of objects) {
      for (const name of ['extra', 'constructor', 'Kind']) {
        const forgery = changed(header, [...path, name], (at, step) => {
          if (!Array.isArray(at)) at[step] = 1;
          else at.push(1);
        });
        refusal(key, () => decodeSlot(key, forged(bytes, forgery)));
      }
    }
  });

  test('is refused with a value of another type', () => {
    const others: Loose[] = [null, true, 'text', 1.5, -1, 2 ** 53, [], {}, [[[]]], ['slot']];
    for (const path of places) {
      const at = path.join('.');
      const before = path.reduce<Loose>(
        (value, step) => (value as Loose[])[step as number] as Loose,
        header,
      );
      for (const value of others) {
        // Any text is a title, an owner, a place or a value; any boolean archives; null is no
        // metadata.
        if (
          typeof value === typeof before &&
          /title|owner|location|archived|tags|\.(9|10|id)$|1\.agent/.test(at)
        )
          continue;
        if (value === null && /metadata$/.test(at)) continue;
        if (JSON.stringify(value) === JSON.stringify(before)) continue;
        const forgery = changed(header, path, (container, step) =>
          Object.assign(container, { [step]: value }),
        );
        const text =
          Number.isSafeInteger(value) || typeof value !== 'number'
            ? canonicalText(forgery)
            : JSON.stringify(forgery);
        refusal(key, () => decodeSlot(key, putTogether(text, takeApart(bytes).rest)));
      }
    }
  });

  test('is refused in another spelling', () => {
    const { header: text, rest } = takeApart(bytes);
    const reversed = (value: Loose): Loose =>
      value === null || typeof value !== 'object' || Array.isArray(value)
        ? value
        : Object.fromEntries(Object.entries(value).reverse());
    const spellings = [
      ` ${text}`,
      `${text} `,
      `\ufeff${text}`,
      text.replace(',"', ', "'),
      text.replace('"schema":2', '"schema":2,"schema":2'),
      text.replace('"schema":2', '"schema":2.0'),
      text.replace('"schema":2', '"schema":0.2e1'),
      text.replace('"kind"', '"\\u006bind"'),
      text.replace('{', '{"__proto__":{},'),
      text.replace('"entries":[{', '"entries":[{"__proto__":null,'),
      JSON.stringify(reversed(JSON.parse(text))),
      JSON.stringify({ ...JSON.parse(text), entries: JSON.parse(text).entries.map(reversed) }),
      `${text}${text}`,
      '',
      'null',
      '[]',
      '"text"',
      '['.repeat(500_000),
      `[${'[],'.repeat(200_000)}[]]`,
      `{"schema":2,"entries":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      text.replace('"entries":[', `"entries":[${'0,'.repeat(5000)}`),
    ];
    for (const spelling of spellings) {
      expect(spelling).not.toBe(text);
      refusal(key, () => decodeSlot(key, putTogether(spelling, rest)));
    }
  });

  test('is refused when it is cut, empty or longer', () => {
    for (const end of [0, 1, 64, 65, Math.floor(bytes.length * 0.6), bytes.length - 1]) {
      refusal(key, () => decodeSlot(key, bytes.subarray(0, end)));
    }
    refusal(key, () => decodeSlot(key, Buffer.concat([bytes, Buffer.from('\n')])));
    const content = bytes.subarray(65);
    for (const end of [0, 1, Math.floor(content.length * 0.6), content.length - 1]) {
      refusal(key, () => decodeSlot(key, withChecksum(content.subarray(0, end))));
    }
    refusal(key, () => decodeSlot(key, withChecksum(Buffer.concat([content, Buffer.from('x')]))));
  });

  test('is refused with any bit of any byte flipped', () => {
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Uint8Array.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      refusal(key, () => decodeSlot(key, damaged));
    }
  });

  test('is refused under another name', () => {
    for (const name of [slotKey(sequence(301)), `${key}x`, 'log/300']) {
      refusal(name, () => decodeSlot(name, bytes));
    }
  });
});

test('text that is not UTF-8 is refused', () => {
  const { header, rest } = takeApart(encodeSlot(full()).bytes);
  const raw = Buffer.from(header);
  raw[raw.indexOf('é')] = 0xff;
  refusal(key, () => decodeSlot(key, putTogether(raw, rest)));
  refusal(key, () => decodeSlot(key, putTogether(header.replace('"é"', '"\\ud800"'), rest)));
});

test('bytes that are not the inlined version’s are refused, and named', () => {
  const { header, rest } = takeApart(encodeSlot(full()).bytes);
  const other = Buffer.from(rest);
  other.write('O');
  const error = refusal(key, () => decodeSlot(key, putTogether(header, other)));
  expect(error.message).toContain('inlined[0]');
});

test('a slot of a newer schema is refused by both versions, not called damaged', () => {
  const { header, rest } = takeApart(encodeSlot(full()).bytes);
  const newer = putTogether(header.replace('"schema":2', '"schema":3'), rest);
  expect(() => decodeSlot(key, newer)).toThrow(
    expect.objectContaining({ code: 'UNSUPPORTED_FORMAT', message: expect.stringMatching(/3.*2/) }),
  );
});

describe('a marker', () => {
  const start = {
    sequence: sequence(40),
    documents: 7,
    epoch: 3,
    root: { epoch: 3, hash: hashOf(1) },
  };
  const bytes = encodeMarker({ worldId: WORLD, incarnationId: INCARNATION, start });
  const marker = JSON.parse(Buffer.from(bytes).toString()) as { [name: string]: Loose };
  const forge = ({ check: _, ...body }: { [name: string]: Loose }): Uint8Array =>
    Buffer.from(canonicalText({ ...body, check: sha256Hex(canonicalText(body)) }));

  test('is valid as it is', () => {
    expect(Buffer.compare(forge(marker), bytes)).toBe(0);
    expect(recogniseHead(bytes)).toMatchObject({ kind: 'marker', marker: { start } });
  });

  test('is refused with a field missing, more or of another type', () => {
    for (const path of placesOf(marker).filter(([step]) => step !== 'check')) {
      const drop = changed(marker, path, (at, step) => Reflect.deleteProperty(at, step));
      const rename = changed(marker, path, (at, step) => Object.assign(at, { [`${step}x`]: 1 }));
      const retype = [true, 'text', 1.5, -1, []].map((value) =>
        changed(marker, path, (at, step) => Object.assign(at, { [step]: value })),
      );
      for (const forgery of [drop, rename, ...retype]) {
        const value = forgery as { [name: string]: Loose };
        const text = JSON.stringify(value).includes('1.5')
          ? Buffer.from(JSON.stringify(value))
          : forge(value);
        refusal(MARKER_KEY, () => recogniseHead(text));
      }
    }
  });

  test('is refused without its check, or with another', () => {
    const { check: _, ...body } = marker;
    refusal(MARKER_KEY, () => recogniseHead(Buffer.from(canonicalText(body))));
    refusal(MARKER_KEY, () =>
      recogniseHead(Buffer.from(canonicalText({ ...body, check: hashOf(1) }))),
    );
  });

  test('is refused when it is cut or any bit is flipped', () => {
    for (const end of [0, Math.floor(bytes.length * 0.6), bytes.length - 1]) {
      refusal(MARKER_KEY, () => recogniseHead(bytes.subarray(0, end)));
    }
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Uint8Array.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      // A flip in the version numbers can make another format of it; never this marker.
      let kind = 'refused';
      try {
        kind = recogniseHead(damaged).kind;
      } catch {
        refusal(MARKER_KEY, () => recogniseHead(damaged));
      }
      expect(kind).not.toBe('marker');
    }
  });
});
