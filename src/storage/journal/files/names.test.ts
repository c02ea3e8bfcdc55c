import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../../../test/support/folder.ts';
import { createFileNames, nextNumber } from './names.ts';

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

test('segment numbers begin at 1 and continue after the highest', () => {
  assert.equal(nextNumber([]), 1);
  assert.equal(nextNumber([3, 7]), 8);
});
