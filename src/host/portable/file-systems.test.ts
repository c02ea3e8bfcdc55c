import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toFileSystemReadings, toFixedDisks } from './file-systems.ts';

const toSize = (fs: string, mount: string, size = 100) => ({
  fs,
  mount,
  size,
  type: 'x',
  used: 60,
  available: 30,
});

const toDevice = (name: string, mount: string, physical: string, type = 'disk') => ({
  ...{ name, mount, physical, type },
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
  assert.deepEqual(toFixedDisks(readings, devices), [
    {
      ...{ mountPath: 'C:', device: 'C:', type: 'x', kind: 'fixed', label: 'System' },
      ...{ totalBytes: 100, usedBytes: 60, availableBytes: 30 },
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
    toFixedDisks(readings, devices).map(({ mountPath }) => mountPath),
    ['/', '/Data'],
  );
});

test('a device without a description is classified by its name', () => {
  const [reading] = toFileSystemReadings([toSize('/dev/disk1s1', '/Volumes/X')], []);
  assert.equal(reading?.kind, 'fixed');
});
