import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toLoggedPath } from './logged-path.ts';

test('the logged path has no query and only printable ASCII', () => {
  assert.equal(toLoggedPath('/api/tasks?token=secret'), '/api/tasks');
  assert.equal(toLoggedPath('/a%20b/1'), '/a%20b/1');
  assert.equal(toLoggedPath('/a\u0085b\u001b[1m\t\u00ff'), '/a%85b%1b[1m%09%ff');
  assert.equal(toLoggedPath(''), '');
});

test('a token in a path is not logged', () => {
  assert.equal(toLoggedPath('/api/eyJhbGciOiJIUzI1NiJ9.eyJuYW1lIjoieCJ9.c2ln-bmF0dXJl/tasks'), '/api/(token)/tasks');
  assert.equal(toLoggedPath('/eyJhbGciOiJub25lIn0.e30.'), '/(token)');
});

test('a key in a path is not logged', () => {
  assert.equal(toLoggedPath(`/api/sbk_${'aB0'.repeat(14)}x/tasks`), '/api/(key)/tasks');
  assert.equal(toLoggedPath('/sbk_PATHKEY0123456789'), '/(key)');
});

test('the query, the fragment, their encoded forms and credentials in a URL are not logged', () => {
  for (const rest of ['?a=s', '#a=s', '%3Fa=s', '%3fa=s', '%23a=s']) assert.equal(toLoggedPath(`/a/1${rest}`), '/a/1');
  assert.equal(toLoggedPath('http://admin:s@cret@localhost/api/tasks'), 'http://localhost/api/tasks');
  assert.equal(toLoggedPath('/a@b'), '/a@b');
});
