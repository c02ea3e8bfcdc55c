import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { inEnglish, toLines } from '../../testing.ts';
import { parsePageSize, readPageSize } from './page-size.ts';

test('the size of a page is the one the system tells', () => {
  assert.equal(readPageSize(), Number(toLines(execFileSync('getconf', ['PAGESIZE'], inEnglish))[0]));
});

test('memory taken between the two readings does not change the size', () => {
  assert.equal(parsePageSize('VmPeak:\t9 kB\nVmSize:\t  404096 kB\n', '100000 5 5 1 0 9 0'), 4096);
  assert.equal(parsePageSize('VmSize:\t  6400000 kB\n', '101000 5 5 1 0 9 0'), 65536);
});

test('texts without the figures are refused', () => {
  assert.throws(() => parsePageSize('', '1 2 3'), /size of a page/);
  assert.throws(() => parsePageSize('VmSize:\t 4 kB\n', ''), /size of a page/);
});
