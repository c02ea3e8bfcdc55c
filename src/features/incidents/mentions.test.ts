import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMentions } from './mentions.ts';

const people = ['anna', 'ben', 'anna-maria', 'j.doe'];

test('a comment mentions each known person once, and nobody by addresses, longer names or code', () => {
  for (const [comment, expected] of [
    ['@anna, can you look? @ben and @anna.', ['anna', 'ben']],
    ['(@anna-maria) @j.doe…', ['anna-maria', 'j.doe']],
    ['mail ben@anna.org, anna@ben or x/@anna', []],
    ['@annabel, @nobody, @anna@example.org, @@anna', []],
    ['run `ssh @anna` and ```\n@ben\n```', []],
    ['@', []],
  ] as const) {
    assert.deepEqual(findMentions(comment, people), expected, comment);
  }
});
