import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSync } from './sync.ts';

test('a directory is synced, except on Windows and where syncing is off', async () => {
  const nowhere = '/nowhere/at/all';
  await assert.rejects(createSync(true, 'linux').directory(nowhere), { code: 'ENOENT' });
  await createSync(true, 'win32').directory(nowhere);
  await createSync(false, 'linux').directory(nowhere);
});
