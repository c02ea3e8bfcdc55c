import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { parseSimpleExpression } from './simple-expression.ts';

test('expressions of literals, groups, alternatives and wildcards need no engine', () => {
  for (const expression of [
    '',
    'a',
    'web-.*',
    'a|b|',
    '(?:web|db)-(1|2)\\.example\\.org',
    '.*disk.*full.*',
    'é|ü',
    '.+',
  ]) {
    assert.ok(parseSimpleExpression(expression), expression);
  }
  const others = [
    'a+',
    'a?',
    'a{2}',
    '[ab]',
    '(?i)a',
    '(a',
    'a)',
    'a.b',
    '^a',
    'a\\d',
    '.*?a',
    '(a|b)*',
    'a\\',
    'x\n.*',
  ];
  for (const expression of others) assert.equal(parseSimpleExpression(expression), undefined, expression);
  const many = '(a|b|c|d)'.repeat(200);
  assert.equal(parseSimpleExpression(many), undefined);
});

test('simple expressions match exactly the texts that the engine matches', () => {
  const piece = fc.constantFrom('a', 'b', '(a|b)', '(?:a|)', '.*', '|', '\\.', '-', '\\*', '(ab|.*b)');
  const text = fc.stringMatching(/^[ab.*\n-]{0,6}$/);
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), fc.array(text, { minLength: 1, maxLength: 5 }), (pieces, texts) => {
      const expression = pieces.join('');
      const simple = parseSimpleExpression(expression);
      assert.ok(simple, expression);
      const engine = RE2JS.compile(expression);
      for (const each of texts)
        assert.equal(simple.test(each), engine.matches(each), JSON.stringify([expression, each]));
    }),
    { numRuns: 2000 },
  );
});
