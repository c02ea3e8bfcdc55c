import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isUserSpace, toKindOfType } from './kind.ts';

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
