import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { test } from 'node:test';
import { createTree, inEnglish, toLines } from '../../../test/support/host.ts';
import { createLinuxReadings } from '../index.ts';
import { parseBootTime, parseCpuSeconds } from './counters.ts';
import { parseCpuInfo, readPackages, toLinuxProcessors } from './system.ts';

const toBlock = (index: number, socket: number): string =>
  `processor\t: ${index}\nvendor_id\t: GenuineIntel\nmodel name\t: Xeon\ncpu MHz\t\t: 2100.4\nphysical id\t: ${socket}\n\n`;

const toCpu = (index: number, siblings: string, l3: string) => {
  const folder = `sys/devices/system/cpu/cpu${index}`;
  return {
    [`${folder}/topology/thread_siblings_list`]: siblings,
    [`${folder}/cache/index0/level`]: '1\n',
    [`${folder}/cache/index2/level`]: '2\n',
    [`${folder}/cache/index2/size`]: '1024K\n',
    [`${folder}/cache/index2/shared_cpu_list`]: siblings,
    [`${folder}/cache/index3/level`]: '3\n',
    [`${folder}/cache/index3/size`]: '32768K\n',
    [`${folder}/cache/index3/shared_cpu_list`]: l3,
    [`${folder}/cache/uevent`]: '',
  };
};

test('threads, cores, caches and load are grouped by package', async (t) => {
  const root = createTree(t, {
    'proc/cpuinfo': [toBlock(0, 0), toBlock(1, 1), toBlock(2, 0), toBlock(3, 0), toBlock(4, 0)].join(''),
    ...toCpu(0, '0,2\n', '0,2-4\n'),
    ...toCpu(1, '1\n', '1\n'),
    ...toCpu(2, '0,2\n', '0,2-4\n'),
    ...toCpu(3, '3-4\n', '0,2-4\n'),
    ...toCpu(4, '3-4\n', '0,2-4\n'),
    'sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq': '3700000\n',
    'sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq': '1200400\n',
  });
  const shares = new Map([
    ['cpu0', 0.5],
    ['cpu1', 0.25],
    ['cpu2', 0.1],
  ] as const);
  const common = { name: 'Xeon', manufacturer: 'GenuineIntel' };
  assert.deepEqual(toLinuxProcessors(root, await readPackages(root), shares), [
    {
      id: 'CPU0',
      ...common,
      maxMHz: null,
      currentMHz: 2100,
      cores: 2,
      logicalProcessors: 4,
      loadPercent: 15,
      l2CacheKB: 2048,
      l3CacheKB: 32768,
    },
    {
      id: 'CPU1',
      ...common,
      maxMHz: 3700,
      currentMHz: 1200,
      cores: 1,
      logicalProcessors: 1,
      loadPercent: 25,
      l2CacheKB: 1024,
      l3CacheKB: 32768,
    },
  ]);
});

test('a machine that reports little about its CPUs has one package, and null for unknown values', async (t) => {
  const root = createTree(t, {
    'proc/cpuinfo': 'processor\t: 0\nFeatures\t: fp\n\nprocessor\t: 1\nFeatures\t: fp\n',
    'sys/devices/system/cpu/cpu0/topology/physical_package_id': '-1\n',
  });
  const [only, ...rest] = toLinuxProcessors(root, await readPackages(root), new Map());
  assert.deepEqual(rest, []);
  assert.deepEqual(only, {
    id: 'CPU0',
    name: cpus()[0]?.model,
    manufacturer: null,
    maxMHz: null,
    currentMHz: null,
    cores: null,
    logicalProcessors: 2,
    loadPercent: 0,
    l2CacheKB: null,
    l3CacheKB: null,
  });
});

test('a cache without a list of sharers counts for its processor', async (t) => {
  const root = createTree(t, {
    'proc/cpuinfo': toBlock(7, 0).replace('model name', 'other'),
    'sys/devices/system/cpu/cpu7/cache/index1/level': '2\n',
  });
  const [only] = toLinuxProcessors(root, await readPackages(root), new Map());
  assert.deepEqual([only?.name, only?.l2CacheKB], [cpus()[7]?.model ?? null, 0]);
});

test('this machine has the processors that lscpu shows', async (t) => {
  const readings = createLinuxReadings();
  t.after(() => readings.close());
  const processors = await readings.processors();
  const rows = toLines(execFileSync('lscpu', ['--parse=CPU,CORE,SOCKET'], inEnglish)).filter(
    (line) => !line.startsWith('#'),
  );
  const columns = rows.map((row) => row.split(','));
  const logical = processors.reduce((sum, { logicalProcessors }) => sum + logicalProcessors, 0);
  const cores = processors.reduce((sum, { cores: count }) => sum + (count ?? 0), 0);
  assert.equal(processors.length, new Set(columns.map(([, , socket]) => socket)).size);
  assert.equal(cores, new Set(columns.map(([, core]) => core)).size);
  assert.equal(logical, rows.length);
  assert.equal(logical, Number(toLines(execFileSync('nproc', ['--all'], inEnglish))[0]));
});

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

test('CPU seconds are listed by CPU and mode, and time of guests is left out', () => {
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
