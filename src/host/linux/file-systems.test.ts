import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { createTree, inEnglish, toLines } from '../../../test/support/host.ts';
import { fc } from '../../../test/support/random.ts';
import { waitUntilPasses } from '../../../test/support/wait.ts';
import { createHangGuard } from '../reading.ts';
import {
  createFileSystemReader,
  isUserSpace,
  parseMounts,
  readBlockDevice,
  readDeviceNumber,
  readLabels,
  readSize,
  toDeviceNumber,
  toKindOfType,
  toLinuxDisks,
  toVisibleMounts,
  unescapeLabel,
} from './file-systems.ts';

/** Creates a tree of files. Every mount path exists on this machine, so that its size can be read. */
const toTree = (...mounts: string[]) => ({
  'proc/self/mountinfo': mounts.map((mount, index) => `${index + 10} 1 ${mount}\n`).join(''),
  'sys/dev/block/8:1': { link: '../../devices/sda/sda1' },
  'sys/devices/sda/removable': '0\n',
  'sys/devices/sda/sda1/partition': '1\n',
  'sys/dev/block/8:17': { link: '../../devices/sdb/sdb1' },
  'sys/devices/sdb/removable': '1\n',
  'sys/devices/sdb/sdb1/partition': '1\n',
  'dev/disk/by-label/Stick\\x201': { link: '../../sdb1' },
});

test('only file systems on fixed local devices are disks, and the root (D26)', async (t) => {
  const mounts = [
    '0:40 / / rw - overlay overlay rw',
    '8:1 / /usr/bin rw - ext4 /dev/sda1 rw',
    '8:1 /home /usr rw - ext4 /dev/sda1 rw',
    '8:17 / /etc rw - vfat /dev/sdb1 rw',
    '7:1 / /bin ro - squashfs /dev/loop1 ro',
    '11:0 / /opt ro - iso9660 /dev/sr0 ro',
    '0:41 / /srv rw - nfs4 server:/srv rw',
    '0:42 / /tmp rw - tmpfs tmpfs rw',
    '0:43 / /var rw - overlay overlay rw',
    '0:44 / /home rw - zfs tank/home rw',
    '0:45 / /boot rw - zfs tank/a/boot rw',
  ];
  const { fixedDisks } = createFileSystemReader(createTree(t, toTree(...mounts)), createHangGuard());
  assert.deepEqual(
    (await fixedDisks()).map(({ mountPath }) => mountPath),
    ['/', '/usr', '/home'],
  );
});

test('a file system is listed once, with its kind and label', async (t) => {
  const mounts = [
    '8:17 / /usr/bin rw - vfat /dev/sdb1 rw',
    '8:17 /x /usr rw - vfat /dev/sdb1 rw',
    '7:1 / /etc ro - squashfs /dev/loop1 ro',
    '0:41 / /tmp rw - fuse.sshfs me@there:/ rw',
    '0:42 / /var rw - autofs systemd-1 rw',
    '0:43 / /proc rw - proc proc rw',
    '0:44 / /does-not-exist rw - tmpfs tmpfs rw',
  ];
  const { fileSystems } = createFileSystemReader(createTree(t, toTree(...mounts)), createHangGuard());
  assert.deepEqual(
    (await fileSystems()).map(({ mountPath, device, kind, label }) => [mountPath, device, kind, label]),
    [
      ['/usr', '/dev/sdb1', 'removable', 'Stick 1'],
      ['/etc', '/dev/loop1', 'fixed', null],
      ['/tmp', 'me@there:/', 'network', null],
    ],
  );
});

test('a file system that spans devices belongs to the one it was mounted from', async (t) => {
  const mounts = ['0:40 / / rw - btrfs /dev/does-not-exist rw', '0:41 / /etc rw - btrfs /dev/null rw'];
  const { fixedDisks } = createFileSystemReader(createTree(t, toTree(...mounts)), createHangGuard());
  assert.deepEqual(
    (await fixedDisks()).map(({ mountPath }) => mountPath),
    ['/'],
  );
});

test('a disk is listed at its shortest mount path, whatever the order', () => {
  const at = (mountPath: string, disk: string | null) => ({ mountPath, disk });
  const candidates = [at('/long/path', '8:1'), at('/s', '8:1'), at('/t', '8:1'), at('/mem', null), at('/', null)];
  assert.deepEqual(toLinuxDisks(candidates), [at('/s', '8:1'), at('/', null)]);
});

test('the disks of this machine have the sizes that df shows', async () => {
  const { fixedDisks } = createFileSystemReader('', createHangGuard());
  await waitUntilPasses(async () => {
    const disks = await fixedDisks();
    assert.ok(disks.some(({ mountPath }) => mountPath === '/'));
    for (const { mountPath, device, type, totalBytes, usedBytes, availableBytes } of disks) {
      const fields = '--output=source,fstype,size,used,avail';
      const [, line = ''] = toLines(execFileSync('df', ['--block-size=1', fields, mountPath], inEnglish));
      const shown = [device, type, totalBytes, usedBytes, availableBytes].map(String);
      assert.deepEqual(shown, line.split(/\s+/));
    }
  });
});

test('the size of the root file system is the one that df shows', async () => {
  await waitUntilPasses(async () => {
    const [, line = ''] = toLines(execFileSync('df', ['--block-size=1', '--output=size,used,avail', '/'], inEnglish));
    const { inodes: _, ...size } = (await readSize('/')) ?? {};
    assert.deepEqual(Object.values(size), line.split(/\s+/).map(Number));
  });
});

test('a path that cannot be read has no size', async () => {
  assert.equal(await readSize('/does-not-exist'), null);
});

const toPaths = (lines: string[]): string[] =>
  toVisibleMounts(parseMounts(lines.join('\n'))).map(({ id, mountPath }) => `${id} ${mountPath}`);

const toLine = (id: number, parent: number, path: string): string =>
  `${id} ${parent} 0:${id} / ${path} rw - tmpfs tmpfs rw`;

const escapeOctal = (path: string): string =>
  path.replace(/[ \t\n\\]/g, (c) => `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`);

test('a line of mountinfo is parsed with any number of optional fields', () => {
  const expected = {
    id: 27,
    parentId: 1,
    device: '254:0',
    mountPath: '/',
    type: 'ext4',
    source: '/dev/vda',
    isReadOnly: false,
  };
  for (const optional of ['', 'shared:1 ', 'shared:1 master:2 propagate_from:3 unbindable ']) {
    const line = `27 1 254:0 / / rw,relatime ${optional}- ext4 /dev/vda rw,discard\n`;
    assert.deepEqual(parseMounts(line), [expected]);
  }
});

test('the source of a mount may be empty', () => {
  assert.equal(parseMounts('1 0 0:1 / /x rw - tmpfs  rw\n')[0]?.source, '');
});

test('any mount path is unescaped correctly', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(' ', '\\', '\n', '\t', '-', '0', 'ü', '/', 'a') }), (name) => {
      const [mount] = parseMounts(`1 0 8:1 / /${escapeOctal(name)} rw - ext4 ${escapeOctal(name)} rw\n`);
      assert.equal(mount?.mountPath, `/${name}`);
      assert.equal(mount.source, name);
    }),
  );
});

test('a mount on top of another mount is the visible mount', () => {
  assert.deepEqual(toPaths([toLine(1, 0, '/'), toLine(2, 1, '/mnt'), toLine(3, 2, '/mnt')]), ['1 /', '3 /mnt']);
});

test('mounts below a covered mount are hidden with it', () => {
  const lines = [toLine(1, 0, '/'), toLine(2, 1, '/a'), toLine(3, 2, '/a/b'), toLine(4, 2, '/a')];
  assert.deepEqual(toPaths(lines), ['1 /', '4 /a']);
});

test('a mount on a parent folder hides the mounts below it', () => {
  const lines = [toLine(1, 0, '/'), toLine(2, 1, '/a/b/c'), toLine(3, 1, '/a'), toLine(4, 1, '/ab')];
  assert.deepEqual(toPaths(lines), ['1 /', '3 /a', '4 /ab']);
});

test("visible mounts do not depend on the table's order or on the root's parent", () => {
  assert.deepEqual(toPaths([toLine(2, 1, '/proc'), toLine(1, 1, '/')]), ['2 /proc', '1 /']);
});

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

const kinds = {
  network: ['nfs4', 'cifs', '9p', 'virtiofs', 'fuse', 'fuse.sshfs', 'ceph'],
  fixed: ['overlay', 'zfs', 'btrfs'],
  memory: ['tmpfs', 'devtmpfs', 'proc', 'fusectl', 'ramfs', 'efivarfs'],
};

for (const [kind, types] of Object.entries(kinds)) {
  test(`file systems of type ${types.join(', ')} are ${kind}`, () => {
    assert.deepEqual(new Set(types.map(toKindOfType)), new Set([kind]));
  });
}

test('FUSE file systems are recognized by their type', () => {
  assert.deepEqual(['fuse', 'fuseblk', 'fuse.x', 'fusectl', 'ext4'].filter(isUserSpace), ['fuse', 'fuseblk', 'fuse.x']);
});
