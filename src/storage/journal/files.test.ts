import assert from 'node:assert/strict';
import { mkdir, open, readdir, rmdir, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { createFileNames, createFreeSpaceCheck, createSync, nextNumber } from './files.ts';

test('the files of a journal are named after it, numbered with eight digits or more', () => {
  const names = createFileNames('/folder', 'log');
  assert.equal(names.directory, '/folder');
  assert.equal(names.active, join('/folder', 'log.jsonl'));
  assert.equal(names.lock, join('/folder', 'log.lock'));
  assert.equal(names.closed(1), join('/folder', 'log.00000001.jsonl'));
  assert.equal(names.closed(1_234_567_890), join('/folder', 'log.1234567890.jsonl'));
  assert.equal(names.torn(12), join('/folder', 'log.00000012.torn'));
});

test('only numbered files of the journal are listed, in order', async (t) => {
  const folder = createFolder(t);
  const names = createFileNames(folder, 'log');
  for (const number of [10, 2, 123_456_789, 99_999_999]) await writeFile(names.closed(number), '');
  await writeFile(names.torn(7), '');
  await mkdir(names.closed(3));
  const others = ['log.1.jsonl', 'log.00000004.jsonl.gz', 'xlog.00000005.jsonl', 'log.x00000006.jsonl'];
  for (const name of [...others, 'log.jsonl', 'log.00000008x.jsonl']) await writeFile(join(folder, name), '');
  assert.deepEqual(await names.listClosed(), [2, 10, 99_999_999, 123_456_789]);
  assert.deepEqual(await names.listTorn(), [7]);
});

test('segment numbers begin at 1 and continue after the highest number', () => {
  assert.equal(nextNumber([]), 1);
  assert.equal(nextNumber([3, 7]), 8);
});

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
    message: `less than ${Number.MAX_SAFE_INTEGER} bytes are free on the disk of ${folder}`,
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
