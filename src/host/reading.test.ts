import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTree } from '../../test/support/host.ts';
import { readKernelFile, readKernelNumber, readKernelText } from './reading.ts';

test('a file of any length is read to its end', (t) => {
  const long = 'x'.repeat(50_000);
  const root = createTree(t, { short: 'abc', long });
  assert.ok(readKernelFile(join(root, 'long'))?.equals(Buffer.from(long)));
  assert.equal(readKernelFile(join(root, 'short'))?.toString(), 'abc');
});

test('a missing file and a folder read as null', (t) => {
  const root = createTree(t, {});
  assert.equal(readKernelFile(join(root, 'none')), null);
  assert.equal(readKernelFile(root), null);
  assert.equal(readKernelText(root), null);
  assert.equal(readKernelNumber(root), null);
});

test('text is trimmed of white space and NUL, and empty text is null', (t) => {
  const root = createTree(t, { text: ' a b\0\n', empty: '\n' });
  assert.equal(readKernelText(join(root, 'text')), 'a b');
  assert.equal(readKernelText(join(root, 'empty')), null);
});

test('a number is read only from a file that contains nothing else', (t) => {
  const root = createTree(t, { number: '-12\n', text: '12 kB\n' });
  assert.equal(readKernelNumber(join(root, 'number')), -12);
  assert.equal(readKernelNumber(join(root, 'text')), null);
});
