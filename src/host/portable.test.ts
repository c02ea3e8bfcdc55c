import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  parseLocalTime,
  readPortableCounters,
  toCpuSeconds,
  toDomain,
  toFileSystemReadings,
  toPortableDisks,
  toPortableProcessors,
  toProcessDetails,
  toProcessReading,
  toSystemReading,
} from './portable.ts';

const windows = {
  os: {
    distro: 'Microsoft Windows 11 Pro',
    release: '10.0.22631',
    fqdn: 'pc.corp.example',
    hypervizor: true,
  },
  system: { manufacturer: 'LENOVO', model: '20XW', virtual: false },
  users: [{}, {}],
};

test('the system reading reports what systeminformation found', () => {
  const { osName, domain, manufacturer, model, hypervisorPresent, userCount } = toSystemReading(windows);
  assert.deepEqual(
    [osName, domain, manufacturer, model, hypervisorPresent, userCount],
    ['Microsoft Windows 11 Pro 10.0.22631', 'corp.example', 'LENOVO', '20XW', true, 2],
  );
});

test('system values that are empty or unknown are null', () => {
  const { osName, domain, manufacturer, model, hypervisorPresent } = toSystemReading({
    os: { distro: 'unknown', release: 'unknown', fqdn: 'pc' },
    system: { manufacturer: '', model: '', virtual: false },
    users: [],
  });
  assert.deepEqual([osName, domain, manufacturer, model, hypervisorPresent], [null, null, null, null, false]);
});

test('the domain begins after the first dot', () => {
  assert.equal(toDomain('a.b.c'), 'b.c');
  assert.equal(toDomain(''), null);
});

const twoPackages = {
  manufacturer: 'Intel',
  brand: 'Xeon Gold',
  speed: 2.1,
  speedMax: 3.7,
  cores: 8,
  physicalCores: 4,
  processors: 2,
  cache: { l2: 4 * 2 ** 20, l3: 44 * 2 ** 20 },
};

test('each package gets its share of cores, caches and load', () => {
  const shares = new Map([1, 1, 1, 1, 0, 0, 0, 1].map((share, index) => [`cpu${index}`, share]));
  const readings = toPortableProcessors(twoPackages, shares.set('cpu', 0.5));
  assert.deepEqual(readings[1], {
    id: 'CPU1',
    name: 'Intel Xeon Gold',
    manufacturer: 'Intel',
    maxMHz: 3700,
    currentMHz: 2100,
    cores: 2,
    logicalProcessors: 4,
    loadPercent: 25,
    l2CacheKB: 2048,
    l3CacheKB: 22528,
  });
  assert.deepEqual(
    readings.map(({ loadPercent }) => loadPercent),
    [100, 25],
  );
});

test('values that systeminformation leaves empty or 0 are null', () => {
  const nothing = {
    manufacturer: '',
    brand: '',
    speed: 0,
    speedMax: 0,
    cores: 1,
    physicalCores: 0,
    processors: 0,
    cache: { l2: 0, l3: 0 },
  };
  assert.deepEqual(toPortableProcessors(nothing, new Map()), [
    {
      id: 'CPU0',
      name: null,
      manufacturer: null,
      maxMHz: null,
      currentMHz: null,
      cores: null,
      logicalProcessors: 1,
      loadPercent: 0,
      l2CacheKB: null,
      l3CacheKB: null,
    },
  ]);
});

test('process values that systeminformation does not report are null, never 0', () => {
  const listed = {
    pid: 7,
    parentPid: 1,
    name: 'node.exe',
    memRss: 2,
    memVsz: 3,
    priority: 8,
    started: '2026-01-02 03:04:05',
    path: '',
  };
  assert.deepEqual(toProcessReading(listed), {
    pid: 7,
    parentPid: 1,
    name: 'node.exe',
    userSeconds: null,
    kernelSeconds: null,
    threads: null,
    workingSetBytes: 2048,
    virtualBytes: 3072,
    sessionId: null,
    priority: 8,
    startedAt: new Date(2026, 0, 2, 3, 4, 5),
  });
});

test('values that Windows does not report of its own processes are null', () => {
  const idle = { pid: 0, parentPid: 0, name: 'System Idle Process', memRss: 8, priority: 0 };
  const { virtualBytes, startedAt } = toProcessReading({ ...idle, memVsz: null, started: null });
  assert.deepEqual([virtualBytes, startedAt], [null, null]);
});

test('a time in an unknown format is null', () => {
  assert.equal(parseLocalTime(null), null);
  assert.equal(parseLocalTime('Tue 3PM'), null);
});

test('the executable path is complete whether systeminformation reports the program or its folder', () => {
  const pathOf = (name: string, path: string) => toProcessDetails({ name, path }).executablePath;
  assert.equal(pathOf('node', '/usr/bin'), '/usr/bin/node');
  assert.equal(pathOf('node', '/usr/bin/Node'), '/usr/bin/Node');
  assert.equal(pathOf('node', ''), null);
  assert.equal(toProcessDetails({ name: 'System' }).executablePath, null);
});

const toSize = (fs: string, mount: string, size = 100) => ({
  fs,
  mount,
  size,
  type: 'x',
  used: 60,
  available: 30,
});

const toDevice = (name: string, mount: string, physical: string, type = 'disk') => ({
  name,
  mount,
  physical,
  type,
  removable: physical === 'Removable',
  label: name === 'C:' ? 'System' : '',
});

test('only local drives of Windows are disks (D26)', () => {
  const drives = { 'C:': 'Local', 'D:': 'CD/DVD', 'E:': 'Removable', 'R:': 'RAM', 'Z:': 'Network' };
  const devices = Object.entries(drives).map(([name, physical]) => toDevice(name, name, physical));
  const readings = toFileSystemReadings(
    Object.keys(drives).map((drive) => toSize(drive, drive)),
    devices,
  );
  assert.deepEqual(
    readings.map(({ kind }) => kind),
    ['fixed', 'optical', 'removable', 'memory', 'network'],
  );
  assert.deepEqual(toPortableDisks(readings, devices), [
    {
      mountPath: 'C:',
      device: 'C:',
      type: 'x',
      kind: 'fixed',
      label: 'System',
      totalBytes: 100,
      usedBytes: 60,
      availableBytes: 30,
    },
  ]);
});

test('outside Windows the root is always listed, and each device once at its shortest path', () => {
  const sizes = [
    toSize('overlay', '/'),
    toSize('/dev/disk3s5', '/System/Volumes/Data'),
    toSize('/dev/disk3s5', '/Data'),
    toSize('/dev/disk4', '/Volumes/Stick'),
    toSize('/dev/loop1', '/snap'),
    toSize('//server/share', '/share'),
    toSize('server:/home', '/home'),
    toSize('tmpfs', '/tmp'),
    toSize('devfs', '/dev', 0),
  ];
  const devices = [
    toDevice('disk3s5', '', 'SSD'),
    { ...toDevice('disk4', '/Volumes/Stick', 'HDD'), removable: true },
    toDevice('loop1', '/snap', '', 'loop'),
  ];
  const readings = toFileSystemReadings(sizes, devices);
  assert.deepEqual(
    readings.map(({ kind }) => kind),
    ['fixed', 'fixed', 'fixed', 'removable', 'fixed', 'network', 'network', 'memory'],
  );
  assert.deepEqual(
    toPortableDisks(readings, devices).map(({ mountPath }) => mountPath),
    ['/', '/Data'],
  );
});

test('a device without a description is classified by its name', () => {
  const [reading] = toFileSystemReadings([toSize('/dev/disk1s1', '/Volumes/X')], []);
  assert.equal(reading?.kind, 'fixed');
});

test('all CPUs together are the sum of each CPU', () => {
  const times = { user: 3000, nice: 1000, sys: 1000, irq: 500, idle: 4500 };
  const first = { user: 3, nice: 1, system: 1, idle: 4.5, irq: 0.5 };
  assert.deepEqual(
    [...toCpuSeconds([{ times }, { times: { ...times, idle: 14_500 } }])],
    [
      ['cpu', { user: 6, nice: 2, system: 2, idle: 19, irq: 1 }],
      ['cpu0', first],
      ['cpu1', { ...first, idle: 14.5 }],
    ],
  );
});

test('the CPUs of this machine have been busy and idle', () => {
  const { user = 0, idle = 0 } = readPortableCounters().cpuSeconds.get('cpu') ?? {};
  assert.ok(user > 0 && idle > 0);
});
