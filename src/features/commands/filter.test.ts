import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orRefusal } from '../../../test/support/command-lines.ts';
import { createRowFilter, parseFilter } from './filter.ts';
import { Refusal } from './language.ts';

const properties = ['Name', 'Size', 'Ready'];

test('a filter of comparisons joined by AND is parsed', () => {
  assert.deepEqual(parseFilter(`name = 'a' AND SIZE=31 and Name like "b%" and ready = TRUE`, properties), [
    { property: 'Name', operator: '=', value: 'a' },
    { property: 'Size', operator: '=', value: '31' },
    { property: 'Name', operator: 'LIKE', value: 'b%' },
    { property: 'Ready', operator: '=', value: 'TRUE' },
  ]);
  assert.deepEqual(parseFilter(String.raw`Name='it\'s \\ "x"'`, properties), [
    { property: 'Name', operator: '=', value: String.raw`it's \ "x"` },
  ]);
  assert.deepEqual(parseFilter(String.raw`Name="\"\\\'x'"`, properties), [
    { property: 'Name', operator: '=', value: String.raw`"\'x'` },
  ]);
  const most = parseFilter(Array(16).fill('Size=1').join(' AND '), properties);
  assert.equal(most.length, 16);
});

test('WQL other than comparisons joined by AND is refused', () => {
  const cases: [string, RegExp][] = [
    ['', /^Filter has a syntax error at ""$/],
    ["Name = 'a' OR Name = 'b'", /syntax error at "Name = 'a' OR/],
    ["Name = 'a' AND", /syntax error at ""$/],
    ["Name <> 'a'", /syntax error/],
    ['Size > 3', /syntax error/],
    ['Size = 1 AND  Size > 3 ', /syntax error at "Size > 3"$/],
    ['Size = -3', /syntax error/],
    ['Size = 3x', /syntax error/],
    ['Name = a', /syntax error/],
    ["Name = 'a", /syntax error/],
    [String.raw`Name = 'a\b'`, /syntax error/],
    ["(Name = 'a')", /syntax error/],
    ["Secret = 'a'", /^Filter names an unknown property: "Secret"$/],
    ['Size LIKE 3', /^LIKE needs a quoted pattern: "3"$/],
    ["Name LIKE '[a]'", /^Only % and _ are wildcards of LIKE: "\[a\]"$/],
    [Array(17).fill('Size=1').join(' AND '), /^Filter has more than 16 conditions$/],
  ];
  for (const [text, reason] of cases) {
    const parsed = orRefusal(() => parseFilter(text, properties));
    assert.ok(parsed instanceof Refusal, text);
    assert.match(parsed.message, reason, text);
  }
});

test('a filter passes instances that meet every condition, ignoring case, and null meets none', () => {
  const instance = { Name: 'Sshd', Size: 3, Ready: true, Gone: null };
  const cases: [string, boolean][] = [
    ["Name = 'SSHD'", true],
    ["Name LIKE 's__d'", true],
    ["Name LIKE 's'", false],
    ["Name = 's%'", false],
    ["Size = '3' AND Ready = true", true],
    ["Name = 'sshd' AND Size = 4", false],
    ["Gone = 'null'", false],
    ["Gone LIKE '%'", false],
  ];
  for (const [text, expected] of cases) {
    const conditions = parseFilter(text, Object.keys(instance));
    assert.equal(createRowFilter(conditions)(instance), expected, text);
  }
});
