import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { fromText, suggest } from './names.ts';

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

const names = ['--port', '--host', '--cors', '--data-dir', '--alerts-retain-bytes', '--alerts-retain-days'];

test('a misspelt name gets the nearest name as a suggestion', () => {
  const pairs = [
    ['--prot', '--port'],
    ['--PORT', '--port'],
    ['--ports', '--port'],
    ['--hots', '--host'],
    ['--cor', '--cors'],
    ['--dataDir', '--data-dir'],
    ['--datadri', '--data-dir'],
    ['--alerts-retian-byte', '--alerts-retain-bytes'],
    ['--alert-retain-day', '--alerts-retain-days'],
  ] as const;
  for (const [given, name] of pairs) assert.equal(suggest(given, names), `; did you mean ${name}?`, given);
  assert.equal(suggest('prot', ['port'], '"'), '; did you mean "port"?');
});

test('a name unlike any other gets no suggestion', () => {
  for (const given of ['--colour', '--x', '', '--sort-by', '--data', '--retain', 'x'.repeat(100_000)]) {
    assert.equal(suggest(given, names), '', given.slice(0, 20));
  }
});
