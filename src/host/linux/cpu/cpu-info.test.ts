import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCpuInfo } from './cpu-info.ts';

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

test('each block on x86 is a processor', () => {
  const name = 'Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz';
  const manufacturer = 'GenuineIntel';
  assert.deepEqual(parseCpuInfo(x86), [
    { index: 0, name, manufacturer, socket: 0, mhz: 3199.998, isGuest: true },
    { index: 1, name, manufacturer, socket: 1, mhz: 800, isGuest: false },
  ]);
});

test('what ARM does not tell is null', () => {
  assert.deepEqual(parseCpuInfo(arm), [
    { index: 0, name: null, manufacturer: null, socket: null, mhz: null, isGuest: null },
  ]);
});
