import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { createTree, inEnglish, toLines } from '../../../../test/support/host.ts';
import { waitUntilPasses } from '../../../../test/support/wait.ts';
import { createHangGuard } from '../../sampling/hang-guard.ts';
import { createFileSystemReader, readSize, toFixedDisks } from './file-systems.ts';

/** Every mount path exists on this machine, so that its size can be read. */
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
  assert.deepEqual(toFixedDisks(candidates), [at('/s', '8:1'), at('/', null)]);
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
    assert.deepEqual(Object.values((await readSize('/')) ?? {}), line.split(/\s+/).map(Number));
  });
});

test('a path that cannot be read has no size', async () => {
  assert.equal(await readSize('/does-not-exist'), null);
});
