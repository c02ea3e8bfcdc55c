import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inEnglish, toLines } from '../../../../test/support/host.ts';
import { parseBootTime, parseCpuInfo, parseCpuSeconds } from './proc-files.ts';

const x86 = `processor	: 0
vendor_id	: GenuineIntel
model		: 158
model name	: Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz
cpu MHz		: 3199.998
physical id	: 0
flags		: fpu vme hypervisor lm
power management:

processor	: 1
vendor_id	: GenuineIntel
model name	: Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz
cpu MHz		: 800.000
physical id	: 1
flags		: fpu vme lm

`;

const arm = `processor	: 0
BogoMIPS	: 108.00
Features	: fp asimd
CPU implementer	: 0x41
CPU part	: 0xd08

Hardware	: BCM2835
Model		: Raspberry Pi 4 Model B Rev 1.4
`;

test('each block of /proc/cpuinfo is a processor on x86', () => {
  const name = 'Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz';
  const manufacturer = 'GenuineIntel';
  assert.deepEqual(parseCpuInfo(x86), [
    { index: 0, name, manufacturer, socket: 0, mhz: 3199.998, isGuest: true },
    { index: 1, name, manufacturer, socket: 1, mhz: 800, isGuest: false },
  ]);
});

test('values that ARM does not report are null', () => {
  assert.deepEqual(parseCpuInfo(arm), [
    { index: 0, name: null, manufacturer: null, socket: null, mhz: null, isGuest: null },
  ]);
});

const stat = `cpu  100 20 30 800 40 1 2 7 50 5
cpu0 60 10 15 400 10 1 1 3 50 5
cpu12 40 10 15 400 30 0 1 4 0 0
intr 240591 0 0
ctxt 670509
btime 1700000000
`;

test('processor seconds are listed by processor and mode, and time of guests is left out', () => {
  const modes = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal'];
  const toSeconds = (values: number[]) => Object.fromEntries(values.map((value, index) => [modes[index], value]));
  assert.deepEqual(
    [...parseCpuSeconds(stat)],
    [
      ['cpu', toSeconds([1, 0.2, 0.3, 8, 0.4, 0.01, 0.02, 0.07])],
      ['cpu0', toSeconds([0.6, 0.1, 0.15, 4, 0.1, 0.01, 0.01, 0.03])],
      ['cpu12', toSeconds([0.4, 0.1, 0.15, 4, 0.3, 0, 0.01, 0.04])],
    ],
  );
});

test('the boot time is in whole seconds', () => {
  assert.equal(parseBootTime(stat).toISOString(), '2023-11-14T22:13:20.000Z');
});

test('this machine has as many processors as nproc counts', () => {
  const names = [...parseCpuSeconds(readFileSync('/proc/stat', 'utf8')).keys()];
  assert.equal(names.length - 1, Number(toLines(execFileSync('nproc', ['--all'], inEnglish))[0]));
});
