import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { test } from 'node:test';
import { createTree, inEnglish, toLines } from '../../../../test/support/host.ts';
import { createLinuxReadings } from '../index.ts';
import { readPackages, toProcessorReadings } from './processors.ts';

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
  assert.deepEqual(toProcessorReadings(root, await readPackages(root), shares), [
    {
      ...{ id: 'CPU0', ...common, maxMHz: null, currentMHz: 2100, cores: 2, logicalProcessors: 4 },
      ...{ loadPercent: 15, l2CacheKB: 2048, l3CacheKB: 32768 },
    },
    {
      ...{ id: 'CPU1', ...common, maxMHz: 3700, currentMHz: 1200, cores: 1, logicalProcessors: 1 },
      ...{ loadPercent: 25, l2CacheKB: 1024, l3CacheKB: 32768 },
    },
  ]);
});

test('a machine that reports little has one package, and null for the rest', async (t) => {
  const root = createTree(t, {
    'proc/cpuinfo': 'processor\t: 0\nFeatures\t: fp\n\nprocessor\t: 1\nFeatures\t: fp\n',
    'sys/devices/system/cpu/cpu0/topology/physical_package_id': '-1\n',
  });
  const [only, ...rest] = toProcessorReadings(root, await readPackages(root), new Map());
  assert.deepEqual(rest, []);
  assert.deepEqual(only, {
    ...{ id: 'CPU0', name: cpus()[0]?.model, manufacturer: null, maxMHz: null, currentMHz: null },
    ...{ cores: null, logicalProcessors: 2, loadPercent: 0, l2CacheKB: null, l3CacheKB: null },
  });
});

test('a cache without a list of sharers counts for its processor', async (t) => {
  const root = createTree(t, {
    'proc/cpuinfo': toBlock(7, 0).replace('model name', 'other'),
    'sys/devices/system/cpu/cpu7/cache/index1/level': '2\n',
  });
  const [only] = toProcessorReadings(root, await readPackages(root), new Map());
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
