import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { fromText } from './schema.ts';

test('whole numbers, lists and switches are parsed from text', () => {
  assert.equal(fromText(Type.Integer(), '8080'), 8080);
  assert.equal(fromText(Type.Integer(), '-1'), -1);
  assert.deepEqual(fromText(Type.Array(Type.String()), ' a, b,,c '), ['a', 'b', 'c']);
  for (const text of ['true', '1', 'YES']) assert.equal(fromText(Type.Boolean(), text), true);
  for (const text of ['false', '0', 'no']) assert.equal(fromText(Type.Boolean(), text), false);
  assert.equal(fromText(Type.String(), '007'), '007');
});

test('text that cannot be converted stays text, and validation refuses it', () => {
  for (const text of ['', '1.5', '1e3', '0x10', '+1', ' 1', '99999999999999999999']) {
    assert.equal(fromText(Type.Integer(), text), text);
  }
  assert.equal(fromText(Type.Boolean(), 'maybe'), 'maybe');
});
