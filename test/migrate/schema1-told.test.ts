/**
 * Goal: receipts that cannot all be true are told apart from those that can.
 * Method: short pasts of one document, each with one receipt that does not follow, whole and with
 * gaps; the same receipts against what the document is.
 */
import { describe, expect, test } from 'vitest';
import { Schema1Present } from '../../migrate/schema1-present.ts';
import type { Receipt, ReceiptChange, Schema1Entry } from '../../migrate/schema1-records.ts';
import { lastProblem, presentProblem, Schema1Story } from '../../migrate/schema1-told.ts';

const PATH = '/a.md';

function hashOf(version: number): string {
  return version.toString(16).padStart(64, '0');
}

/** `p1`: published version 1; `+2` appended, `x2` archived; `?` unnamed, `-` not there at all. */
function receiptsOf(past: string): readonly Receipt[] {
  const receipts: Receipt[] = [];
  for (const [index, word] of past.split(' ').entries()) {
    const sequence = index + 2;
    if (word === '-') continue;
    const operationId = `11111111-2222-4333-8444-${String(sequence).padStart(12, '0')}`;
    receipts.push({ sequence, operationId, change: word === '?' ? null : changeOf(word) });
  }
  return receipts;
}

function changeOf(word: string): ReceiptChange {
  const op = ({ '+': 'append', x: 'archive', p: 'publish' } as const)[word[0] as '+' | 'x' | 'p'];
  // `!` is for another body than that of the version.
  const version = Number(word.slice(1).replace('!', ''));
  const bodyHash = hashOf(word.endsWith('!') ? version + 100 : version);
  return { path: PATH, op, agent: '', version, bodyHash };
}

/** What each receipt is told, those that follow left out. */
function said(past: string): readonly string[] {
  const story = new Schema1Story();
  return receiptsOf(past).flatMap((receipt) => story.take(receipt) ?? []);
}

describe('one receipt behind another', () => {
  test.each([
    'p1',
    'p7',
    'p1 p2 +3 +4',
    'p1 x1 p1 p2 x2 p2 x2',
    '+2 p3',
    'x3 p3 +4',
    // What is between is not known.
    'p1 - p3',
    'p1 ? p9',
    'p1 - p1',
    'p1 ? x4 ? x4 ? p4',
    'x1 - p2',
    'p1 - x2',
    '? - ? p4',
  ])('%s can be', (past) => {
    expect(said(past)).toEqual([]);
  });

  test.each([
    ['p2 p1', 'receipt of 3: /a.md version 1, behind version 2 at 2'],
    ['p2 - p1', 'receipt of 4: /a.md version 1, behind version 2 at 2'],
    ['p2 ? x1', 'receipt of 4: /a.md version 1, behind version 2 at 2'],
    ['p1 p3', 'receipt of 3: /a.md version 3, behind version 1 at 2'],
    ['p1 x2', 'receipt of 3: /a.md version 2, behind version 1 at 2'],
    ['p1 p1', 'receipt of 3: /a.md version 1, which was there at 2 already'],
    ['+2 +2', 'receipt of 3: /a.md version 2, which was there at 2 already'],
    ['x2 - +2', 'receipt of 4: /a.md version 2, which was there at 2 already'],
    ['p1 x1 p1 p1', 'receipt of 5: /a.md version 1, which was there at 4 already'],
    ['p1 x1 x1', 'receipt of 4: /a.md version 1, archived at 3 already'],
    ['p1 x1 p2', 'receipt of 4: /a.md version 2, archived at 3'],
    ['p1 x1!', 'receipt of 3: /a.md version 1, with another body hash than at 2'],
    ['x1 - p1!', 'receipt of 4: /a.md version 1, with another body hash than at 2'],
    ['+1', 'receipt of 2: /a.md version 1, appended to nothing'],
  ])('%s cannot', (past, problem) => {
    expect(said(past)).toEqual([problem]);
  });

  test('a wrong one is told once, and what follows is held against it', () => {
    expect(said('p1 p9 p3 p4')).toHaveLength(2);
  });

  test('an operation comes twice in no window of 16, and may beyond', () => {
    for (const distance of [1, 15, 16, 17]) {
      const receipts = receiptsOf(Array.from({ length: 20 }, () => '?').join(' '));
      const { operationId } = receipts[0] as Receipt;
      const story = new Schema1Story();
      const problems = receipts.flatMap((receipt, index) => {
        return story.take(index === distance ? { ...receipt, operationId } : receipt) ?? [];
      });
      const problem = `receipt of ${2 + distance}: its operation is that of 2`;
      expect(problems).toEqual(distance < 16 ? [problem] : []);
    }
  });
});

test.each([
  ['p1 p2', 1, [3]],
  ['? p2 p3', 2, [4]],
  ['p1 - p2', 3, [4]],
  ['p1 p2 ?', 4, []],
  ['p1 ? p2', 3, [4]],
  ['- - - p1', 4, [5]],
] as const)('of %s all behind %i is told, and last is %j', (past, resumesFrom, last) => {
  const story = new Schema1Story();
  for (const receipt of receiptsOf(past)) story.take(receipt);
  expect(story.resumesFrom).toBe(resumesFrom);
  expect([...story.last()].map(({ sequence }) => sequence)).toEqual(last);
});

describe('a receipt beside its document', () => {
  /** At version 4, of which 2 to 4 are retained. */
  function present(archived: boolean, versions: readonly number[] = [2, 3, 4]): Schema1Present {
    const all = new Schema1Present();
    const entry = { path: PATH, version: 4, archived, bodyHash: hashOf(4) } as Schema1Entry;
    const records = versions.map((version) => {
      return { version, storedHash: hashOf(0), bodyHash: hashOf(version), modified: 0 };
    });
    all.take(entry, records);
    return all;
  }

  const told = (word: string) => ({ sequence: 9, change: changeOf(word) });

  test.each([
    ['p4', null, null],
    ['x4', null, 'archived, which it is not'],
    ['p3', null, 'which is at 4'],
    ['p3!', 'which has another body hash', 'which is at 4'],
    ['p4!', 'which has another body hash', null],
    ['p5', 'which is at 4', null],
    // Not retained: nobody knows.
    ['p1!', null, 'which is at 4'],
  ])('%s is said %j, and %j when nothing follows', (word, anywhere, asLast) => {
    const document = present(false).get(PATH);
    if (document === undefined) throw new RangeError('not taken');
    const [first, last] = [presentProblem(told(word), document), lastProblem(told(word), document)];
    for (const [found, says] of [
      [first, anywhere],
      [last, asLast],
    ]) {
      if (says === null) expect(found).toBeNull();
      else expect(found).toMatch(new RegExp(`^receipt of 9: /a.md version \\d,? ${says}$`));
    }
  });

  test('the last one says whether it is archived', () => {
    const document = present(true).get(PATH);
    if (document === undefined) throw new RangeError('not taken');
    expect(lastProblem(told('x4'), document)).toBeNull();
    expect(lastProblem(told('+4'), document)).toContain('and it is archived');
  });

  test('of versions behind one that could not be read nothing is known', () => {
    const hashes = (versions: readonly number[]) => {
      const document = present(false, versions).get(PATH);
      return [0, 1, 2, 3, 4, 5].map((version) => document?.bodyHashOf(version));
    };
    const [two, three, four] = [2, 3, 4].map(hashOf);
    expect(hashes([2, 3, 4])).toEqual([null, null, two, three, four, null]);
    expect(hashes([2, 4])).toEqual([null, null, null, null, four, null]);
    // The entry says the newest, whatever is with its block.
    expect(hashes([])).toEqual([null, null, null, null, four, null]);
  });
});
