import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { createTree } from '../../../../test/support/host.ts';
import { readBlockDevice, readDeviceNumber, readLabels, toDeviceNumber, unescapeLabel } from './block-device.ts';

const tree = {
  'sys/dev/block/8:0': { link: '../../devices/ata1/block/sda' },
  'sys/dev/block/8:1': { link: '../../devices/ata1/block/sda/sda1' },
  'sys/devices/ata1/block/sda/removable': '0\n',
  'sys/devices/ata1/block/sda/sda1/partition': '1\n',
  'sys/devices/ata1/block/sda/sda1/dev': '8:1\n',
  'sys/dev/block/253:2': { link: '../../devices/virtual/block/md-2' },
  'sys/devices/virtual/block/md-2/slaves/gone/x': '',
  'sys/dev/block/8:17': { link: '../../devices/usb1/block/sdb/sdb1' },
  'sys/devices/usb1/block/sdb/removable': '1\n',
  'sys/devices/usb1/block/sdb/sdb1/partition': '1\n',
  'sys/devices/usb1/block/sdb/sdb1/dev': '8:17\n',
  'sys/dev/block/7:3': { link: '../../devices/virtual/block/loop3' },
  'sys/devices/virtual/block/loop3/removable': '0\n',
  'sys/dev/block/252:0': { link: '../../devices/virtual/block/zram0' },
  'sys/devices/virtual/block/zram0/removable': '0\n',
  'sys/dev/block/251:0': { link: '../../devices/virtual/block/rbd0' },
  'sys/devices/virtual/block/rbd0/removable': '0\n',
  'sys/dev/block/253:0': { link: '../../devices/virtual/block/dm-0' },
  'sys/devices/virtual/block/dm-0/slaves/sda1': { link: '../../../../ata1/block/sda/sda1' },
  'sys/dev/block/253:1': { link: '../../devices/virtual/block/dm-1' },
  'sys/devices/virtual/block/dm-1/slaves/sda1': { link: '../../../../ata1/block/sda/sda1' },
  'sys/devices/virtual/block/dm-1/slaves/sdb1': { link: '../../../../usb1/block/sdb/sdb1' },
};

const expected = {
  '8:0': { name: 'sda', kind: 'fixed' },
  '8:1': { name: 'sda1', kind: 'fixed' },
  '8:17': { name: 'sdb1', kind: 'removable' },
  '7:3': { name: 'loop3', kind: 'loop' },
  '252:0': { name: 'zram0', kind: 'memory' },
  '251:0': { name: 'rbd0', kind: 'network' },
  '253:0': { name: 'dm-0', kind: 'fixed' },
  '253:1': { name: 'dm-1', kind: 'removable' },
  '253:2': { name: 'md-2', kind: 'fixed' },
  '11:0': { name: '11:0', kind: 'optical' },
  '259:7': { name: '259:7', kind: 'fixed' },
};

for (const [number, device] of Object.entries(expected)) {
  test(`device ${number} is ${device.name}, ${device.kind}`, async (t) => {
    assert.deepEqual(await readBlockDevice(`${createTree(t, tree)}/sys`, number), device);
  });
}

test('device numbers are decoded as the kernel encodes them', () => {
  assert.equal(toDeviceNumber(0x0801), '8:1');
  assert.equal(toDeviceNumber(0x10307), '259:7');
  assert.equal(toDeviceNumber(0x110302), '259:258');
});

test('only a block device has a number', async () => {
  assert.equal(await readDeviceNumber('/dev/null'), null);
  assert.equal(await readDeviceNumber('/dev/does-not-exist'), null);
});

test("the number of each device file leads to the kernel's folder of the device", async () => {
  const devices = readdirSync('/sys/block').filter((name) => statSync(`/dev/${name}`, { throwIfNoEntry: false }));
  for (const name of devices) {
    const number = readFileSync(`/sys/block/${name}/dev`, 'utf8').trim();
    assert.equal(await readDeviceNumber(`/dev/${name}`), number);
    assert.equal((await readBlockDevice('/sys', number)).name, name);
  }
});

test('labels are listed by the name of their device', async (t) => {
  const dev = createTree(t, {
    'disk/by-label/My\\x20Data\\x2fürs': { link: '../../sdb1' },
    'disk/by-label/100%': { link: '../../dm-0' },
  });
  assert.deepEqual(
    await readLabels(dev),
    new Map([
      ['sdb1', 'My Data/ürs'],
      ['dm-0', '100%'],
    ]),
  );
  assert.equal((await readLabels('/does-not-exist')).size, 0);
});

test('bytes of a label that are not UTF-8 are replaced', () => {
  assert.equal(unescapeLabel('a\\xffb'), 'a\ufffdb');
});
