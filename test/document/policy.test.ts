/**
 * Goal: a publish policy means the same on every replica. Method: the rule's rows for reading,
 * writing and evaluating, with violations compared in order.
 */
import { describe, expect, it } from 'vitest';
import { mergeForAppend } from '../../bucketstore/document/metadata.ts';
import { isDocumentPath } from '../../bucketstore/document/path.ts';
import {
  checkPolicyDocument,
  describeViolation,
  evaluatePolicy,
  POLICY_PATH,
  parsePolicy,
  strictnessOf,
} from '../../bucketstore/document/policy.ts';

const list = (prefix: string, count: number): string =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`).join(' ');

describe('`parsePolicy()`', () => {
  it('finds directives among prose, indented or not, with any newline', () => {
    const text = [
      '# Our policy',
      'We say strictness: warn in prose, which is none.',
      ' \tstrictness:  block \r',
      'require_tags: area,team  kind,,',
      'require_fields:\ttitle, owner',
      'unknown: x',
    ].join('\n');
    expect(parsePolicy(text)).toEqual({
      strictness: 'block',
      axes: ['area', 'team', 'kind'],
      fields: ['title', 'owner'],
    });
  });

  it('lets the first line of a directive count', () => {
    const policy = parsePolicy(
      'strictness: ask\nstrictness: block\nrequire_tags:\nrequire_tags: a',
    );
    expect(policy).toEqual({ strictness: 'ask', axes: [], fields: [] });
  });

  it('reads nothing from text without directives', () => {
    const nothing = { strictness: null, axes: [], fields: [] };
    for (const text of ['', 'Strictness: block', 'strictness : block', '- strictness: block']) {
      expect(parsePolicy(text)).toEqual(nothing);
    }
  });

  it.each([
    ['warn', 'warn'],
    ['block', 'block'],
    ['ask', 'ask'],
    ['BLOCK', 'warn'],
    ['block please', 'warn'],
    ['', 'warn'],
  ])('`strictnessOf()` of %j is %s', (given, strictness) => {
    expect(strictnessOf(parsePolicy(`strictness: ${given}`))).toBe(strictness);
  });

  it('`strictnessOf()` is warn when nothing is said', () => {
    expect(strictnessOf(parsePolicy(''))).toBe('warn');
  });
});

describe('`checkPolicyDocument()`', () => {
  it.each([
    ['nothing at all', ''],
    ['prose', '# Policy\n\nBe kind.\n'],
    ['a full policy', 'strictness: ask\nrequire_tags: a, b\nrequire_fields: title tags owner'],
    ['a name of 64 bytes', `require_tags: ${'a'.repeat(64)}`],
    ['50 axes', `require_tags: ${list('a', 50)}`],
    ['50 fields', `require_fields: ${list('a', 50)}`],
    ['an axis beyond ASCII', 'require_tags: größe'],
    ['49 fields beside axes', `require_tags: a\nrequire_fields: ${list('f', 49)}`],
    ['the same name as axis and field', 'require_tags: team\nrequire_fields: team'],
  ])('takes %s', (_, text) => {
    expect(checkPolicyDocument(text)).toBeNull();
  });

  it.each([
    ['an unknown strictness', 'strictness: deny', 'strictness'],
    ['an empty strictness', 'strictness:', 'strictness'],
    ['strictness in upper case', 'strictness: Block', 'strictness'],
    ['an axis with a colon', 'require_tags: area:x', 'require_tags'],
    ['an axis twice', 'require_tags: a b a', 'require_tags'],
    ['a long axis', `require_tags: ${'a'.repeat(65)}`, 'require_tags'],
    ['a long axis, in bytes', `require_tags: ${'ä'.repeat(33)}`, 'require_tags'],
    ['51 axes', `require_tags: ${list('a', 51)}`, 'require_tags'],
    ['a field twice', 'require_fields: a,a', 'require_fields'],
    ['a field that is no key', 'require_fields: Owner', 'require_fields'],
    ['51 fields', `require_fields: ${list('a', 51)}`, 'require_fields'],
    ['a reserved field', 'require_fields: version', 'require_fields'],
    ['an operational field', 'require_fields: etag', 'require_fields'],
    ['a protocol field', 'require_fields: auth', 'require_fields'],
    [
      '50 fields beside axes',
      `require_tags: a\nrequire_fields: ${list('f', 50)}`,
      'require_fields',
    ],
    ['more bytes than fit', `require_fields: ${list('f'.repeat(25), 40)}`, 'require_fields'],
    ['more tags than fit', `require_tags: ${list('f'.repeat(20), 45)}`, 'require_fields'],
  ])('refuses %s', (_, text, directive) => {
    expect(checkPolicyDocument(text)).toMatchObject({ directive, reason: expect.any(String) });
  });
});

describe('`evaluatePolicy()`', () => {
  const policy = parsePolicy('require_tags: area team\nrequire_fields: owner type title');
  const evaluate = (metadata: Record<string, string> | null, path = '/a.md'): string[] =>
    evaluatePolicy(policy, { path, metadata }).map(describeViolation);

  it('passes what has everything', () => {
    const metadata = {
      tags: 'area:x,team:y,z',
      owner: 'o',
      type: 'T',
      title: 'T',
      importance: '1',
    };
    expect(evaluate(metadata)).toEqual([]);
  });

  it('gives every violation, in order', () => {
    expect(evaluate(null)).toEqual([
      'missing-tags',
      'missing-field: owner',
      'missing-field: type',
      'missing-field: title',
    ]);
    expect(evaluate({ tags: 'team:', importance: 'high', owner: ' ', title: 'T' })).toEqual([
      'invalid-importance',
      'missing-tag-axis: area',
      'missing-tag-axis: team',
      'missing-field: owner',
      'missing-field: type',
    ]);
  });

  it('looks at axes only when there are tags', () => {
    const rest = { owner: 'o', type: 'T', title: 'T' };
    expect(evaluate({ ...rest, tags: ' , ' })).toEqual(['missing-tags']);
    expect(evaluate({ ...rest, tags: 'areas:x,area' })).toEqual([
      'missing-tag-axis: area',
      'missing-tag-axis: team',
    ]);
  });

  it.each([
    ['0', true],
    ['1', true],
    [' 0.80 ', true],
    ['', false],
    ['1.1', false],
    ['-0.1', false],
    ['high', false],
  ])('importance %j passes: %s', (importance, passes) => {
    const violations = evaluatePolicy(parsePolicy(''), {
      path: '/a.md',
      metadata: { tags: 'a', importance },
    });
    expect(violations).toEqual(passes ? [] : [{ kind: 'invalid-importance' }]);
  });

  it.each(['/index.md', '/x/log.md'])('asks no type of %s', (path) => {
    const metadata = { tags: 'area:x,team:y', owner: 'o', title: 'T' };
    expect(evaluate(metadata, path)).toEqual([]);
    expect(evaluate(metadata)).toEqual(['missing-field: type']);
  });

  it('sees an append as it will be stored', () => {
    const old = { tags: 'area:x,team:y', owner: 'o', title: 'T' };
    expect(evaluate(mergeForAppend(old, { owner: '' }, '/a.md'))).toEqual(['missing-field: owner']);
    expect(evaluate(mergeForAppend(old, { tags: 'area:x' }, '/a.md'))).toEqual([
      'missing-tag-axis: team',
    ]);
    expect(evaluate(mergeForAppend(old, null, '/a.md'))).toEqual([]);
  });

  it('takes names that stand twice in an old policy once', () => {
    const old = parsePolicy('require_tags: a a\nrequire_fields: b b');
    expect(evaluatePolicy(old, { path: '/a.md', metadata: { tags: 'x' } })).toEqual([
      { kind: 'missing-tag-axis', name: 'a' },
      { kind: 'missing-field', name: 'b' },
    ]);
  });

  it('is where a document may be', () => {
    expect(isDocumentPath(POLICY_PATH)).toBe(true);
  });
});
