import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { test } from 'node:test';
import { eventually, inEnglish, toLines } from '../../testing.ts';
import { createPatientSizeReader, createSizeReader, type FileSystemSize } from './size.ts';

const size: FileSystemSize = { totalBytes: 3, usedBytes: 2, availableBytes: 1 };

test('sizes are those that df shows', async () => {
  await eventually(async () => {
    const [, line = ''] = toLines(
      execFileSync('df', ['--block-size=1', '--output=size,used,avail', '/'], inEnglish),
    );
    assert.deepEqual(
      Object.values((await createSizeReader(statfs)('/')) ?? {}),
      line.split(/\s+/).map(Number),
    );
  });
});

test('a path that can not be asked has no size', async () => {
  assert.equal(await createSizeReader(statfs)('/does-not-exist'), null);
});

test('questions are asked one at a time', async () => {
  let open = 0;
  const read = createPatientSizeReader(async () => {
    open += 1;
    assert.equal(open, 1);
    await new Promise((resolve) => setImmediate(resolve));
    open -= 1;
    return size;
  });
  assert.deepEqual(await Promise.all([read('/a'), read('/b'), read('/c')]), [size, size, size]);
});

test('a server that is gone costs one question and no more until it is back', async () => {
  let asked = 0;
  let comeBack: (found: FileSystemSize) => void = () => {};
  const server = new Promise<FileSystemSize>((resolve) => {
    comeBack = resolve;
  });
  const read = createPatientSizeReader(() => {
    asked += 1;
    return server;
  }, 20);
  assert.deepEqual(await Promise.all([read('/gone'), read('/other'), read('/gone')]), [null, null, null]);
  assert.equal(asked, 1);
  comeBack(size);
  await eventually(async () => assert.deepEqual(await read('/gone'), size));
});
