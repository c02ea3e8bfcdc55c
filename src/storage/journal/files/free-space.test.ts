import assert from 'node:assert/strict';
import { rmdir, statfs } from 'node:fs/promises';
import { test } from 'node:test';
import { createFolder } from '../../../../test/support/folder.ts';
import { createFreeSpaceCheck } from './free-space.ts';

test('sufficient free space is checked again after a second, or once it is used up', async (t) => {
  const folder = createFolder(t);
  const { bavail, bsize } = await statfs(folder);
  const assertFreeSpace = createFreeSpaceCheck(folder, 0);
  await assertFreeSpace(0);
  await rmdir(folder);
  await assertFreeSpace(1000);
  // Far more than other programs can have freed in the meantime.
  await assert.rejects(assertFreeSpace(10 * bavail * bsize), { code: 'ENOENT' });
});

test('insufficient free space is checked again each time', async (t) => {
  const folder = createFolder(t);
  const assertFreeSpace = createFreeSpaceCheck(folder, Number.MAX_SAFE_INTEGER);
  const refusal = {
    code: 'low-space',
    message: `less than ${Number.MAX_SAFE_INTEGER} bytes are free for ${folder}`,
  };
  await assert.rejects(assertFreeSpace(0), refusal);
  await assert.rejects(assertFreeSpace(0), refusal);
  await rmdir(folder);
  await assert.rejects(assertFreeSpace(0), { code: 'ENOENT' });
});

test('the bytes about to be written count as used, even in the first check', async (t) => {
  const folder = createFolder(t);
  const { bavail, bsize } = await statfs(folder);
  const assertFreeSpace = createFreeSpaceCheck(folder, 0);
  await assertFreeSpace(10 * bavail * bsize);
  await rmdir(folder);
  await assert.rejects(assertFreeSpace(1), { code: 'ENOENT' });
});

test('the reserved free space is not used', async (t) => {
  const folder = createFolder(t);
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const assertFreeSpace = createFreeSpaceCheck(folder, Math.floor(free / 2));
  await assertFreeSpace(0);
  await rmdir(folder);
  await assertFreeSpace(Math.floor(free / 4));
  await assert.rejects(assertFreeSpace(Math.floor(free / 2)), { code: 'ENOENT' });
});
