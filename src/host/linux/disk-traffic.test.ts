import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTree } from '../../../test/support/host.ts';
import { createLinuxReadings } from '../index.ts';

test('bytes read and written are listed by the numbers of disks and partitions', (t) => {
  const diskstats = `   8       0 sda 100 5 2048 30 50 6 4096 40 0 60 70 0 0 0 0 0 0
   8       1 sda1 90 5 1024 30 50 6 4096 40 0 60 70
 259       0 nvme0n1 1 0 8 1 1 0 16 1 0 1 1
 garbage
`;
  const { diskTraffic } = createLinuxReadings(createTree(t, { 'proc/diskstats': diskstats }));
  assert.deepEqual(
    [...diskTraffic()],
    [
      ['8:0', { read: 1_048_576, written: 2_097_152 }],
      ['8:1', { read: 524_288, written: 2_097_152 }],
      ['259:0', { read: 4096, written: 8192 }],
    ],
  );
  assert.equal(createLinuxReadings('/nowhere').diskTraffic().size, 0);
});
