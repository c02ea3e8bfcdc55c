import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readUserNames } from './user-names.ts';

test('users of this machine are known by their id', async () => {
  assert.equal((await readUserNames()).get('0'), 'root');
});

test('a machine without the file has no names', async () => {
  assert.equal((await readUserNames('/nonexistent')).size, 0);
});
