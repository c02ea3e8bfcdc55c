import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suggest } from './suggest.ts';

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
