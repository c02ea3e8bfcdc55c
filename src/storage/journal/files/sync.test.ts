import assert from 'node:assert/strict';
import { open, readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { createFolder } from '../../../../test/support/folder.ts';
import { createSync } from './sync.ts';

test('a directory is synced, except on Windows and where syncing is off', async () => {
  const nowhere = '/nowhere/at/all';
  await assert.rejects(createSync(true, 'linux').directory(nowhere), { code: 'ENOENT' });
  await createSync(true, 'win32').directory(nowhere);
  await createSync(false, 'linux').directory(nowhere);
});

test('a file is synced, except where syncing is off', async (t) => {
  const handle = await open(createFolder(t));
  await createSync(true).data(handle);
  await handle.close();
  await assert.rejects(createSync(true).data(handle), { code: 'EBADF' });
  await createSync(false).data(handle);
});

test('a directory is closed after it was synced', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const folder = createFolder(t);
  const countFiles = async () => (await readdir('/proc/self/fd')).length;
  const before = await countFiles();
  for (let time = 0; time < 20; time += 1) await createSync(true).directory(folder);
  assert.ok((await countFiles()) < before + 10);
});
