import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { inEnglish, toLines } from '../../../../test/support/host.ts';
import { fc } from '../../../../test/support/random.ts';
import { parsePageSize, parseProcessStat, parseResidentPages, readPageSize } from './stat.ts';

const behindName =
  ' S 812 4242 4243 34816 4242 4194560 512 0 3 0 250 125 7 9 20 0 11 0 98765 1184903168 12898 ' +
  '18446744073709551615 1 2 3 0 0 0 0 4096 16386 0 0 0 17 1 0 0 0 0 0 4 5 6 7 8 9 10 0\n';

const toContent = (name: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from('4242 ('), name, Buffer.from(`)${behindName}`)]);

test('fields are read at the positions of the manual', () => {
  assert.deepEqual(parseProcessStat(toContent(Buffer.from('node'))), {
    name: Buffer.from('node'),
    parentPid: 812,
    session: 4243,
    userTicks: 250,
    kernelTicks: 125,
    priority: 20,
    threads: 11,
    startTicks: 98765,
    virtualBytes: 1184903168,
  });
});

test('any name leaves the fields readable', () => {
  const byte = fc.oneof(fc.integer({ min: 1, max: 255 }), fc.constantFrom(...Buffer.from('() \n0S')));
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 64 }), (bytes) => {
      const { name, parentPid, virtualBytes } = parseProcessStat(toContent(Buffer.from(bytes)));
      assert.deepEqual([...name], bytes);
      assert.deepEqual([parentPid, virtualBytes], [812, 1184903168]);
    }),
  );
});

test('a kernel thread has no memory and may have a negative priority', () => {
  const content = '14 (ksoftirqd/0) S 2 0 0 0 -1 69238848 0 0 0 0 0 3 0 0 -2 0 1 0 27 0 0 18446744073709551615 0 0 0\n';
  const { name, virtualBytes, priority, kernelTicks } = parseProcessStat(Buffer.from(content));
  assert.equal(name.toString(), 'ksoftirqd/0');
  assert.deepEqual({ virtualBytes, priority, kernelTicks }, { virtualBytes: 0, priority: -2, kernelTicks: 3 });
});

test('the name stays valid when the buffer is reused', () => {
  const content = toContent(Buffer.from('node'));
  const { name } = parseProcessStat(content);
  content.fill(0);
  assert.equal(name.toString(), 'node');
});

test('resident pages are the second figure of statm', () => {
  assert.equal(parseResidentPages(Buffer.from('289281 12898 9876 1 0 40000 0\n')), 12898);
});

test('the size of a page is the one that getconf reports', () => {
  assert.equal(readPageSize(), Number(toLines(execFileSync('getconf', ['PAGESIZE'], inEnglish))[0]));
});

test('memory allocated between the two readings does not change the size of a page', () => {
  assert.equal(parsePageSize('VmPeak:\t9 kB\nVmSize:\t  404096 kB\n', '100000 5 5 1 0 9 0'), 4096);
  assert.equal(parsePageSize('VmSize:\t  6400000 kB\n', '101000 5 5 1 0 9 0'), 65536);
});

test('files without a size throw', () => {
  assert.throws(() => parsePageSize('', '1 2 3'), /size of a page/);
  assert.throws(() => parsePageSize('VmSize:\t 4 kB\n', ''), /size of a page/);
});
