import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLike } from './wildcards.ts';

test('a pattern matches with any text for each asterisk', () => {
  for (const pattern of ['abc', 'a*', '*c', '*', 'a*c', '*b*', 'a**c', 'ab*c', '*abc*'])
    assert.ok(isLike('abc', pattern), pattern);
  for (const pattern of ['', 'ab', 'b*', '*b', 'abc*c', 'a*b', '*abc*abc', 'A*'])
    assert.ok(!isLike('abc', pattern), pattern);
});
