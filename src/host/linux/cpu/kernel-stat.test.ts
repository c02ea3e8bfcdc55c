import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inEnglish, toLines } from '../../testing.ts';
import { parseBootTime, parseCpuTimes } from './kernel-stat.ts';

const stat = `cpu  100 20 30 800 40 1 2 7 50 5
cpu0 60 10 15 400 10 1 1 3 50 5
cpu12 40 10 15 400 30 0 1 4 0 0
intr 240591 0 0
ctxt 670509
btime 1700000000
`;

test('busy is all but idle and waiting; time given to guests is not counted twice', () => {
  assert.deepEqual(
    [...parseCpuTimes(stat)],
    [
      ['cpu', { busy: 160, total: 1000 }],
      ['cpu0', { busy: 90, total: 500 }],
      ['cpu12', { busy: 70, total: 500 }],
    ],
  );
});

test('the boot time is in whole seconds', () => {
  assert.equal(parseBootTime(stat).toISOString(), '2023-11-14T22:13:20.000Z');
});

test('this machine has as many processors as nproc counts', () => {
  const names = [...parseCpuTimes(readFileSync('/proc/stat', 'utf8')).keys()];
  assert.equal(names.length - 1, Number(toLines(execFileSync('nproc', ['--all'], inEnglish))[0]));
});
