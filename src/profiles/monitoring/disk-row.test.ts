import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileSystemReading } from '../../host/readings.ts';
import { toDiskRow } from './disk-row.ts';

const toReading = (totalBytes: number, usedBytes: number, availableBytes: number): FileSystemReading => ({
  ...{ mountPath: '/data', device: '/dev/sdb1', type: 'ext4', kind: 'fixed', label: null },
  ...{ totalBytes, usedBytes, availableBytes },
});

test('what is kept for root is neither used nor free (D26)', () => {
  const gigabyte = 2 ** 30;
  assert.deepEqual(toDiskRow(toReading(100 * gigabyte, 30.126 * gigabyte, 60 * gigabyte)), {
    ...{ drive: '/data', totalGB: 100, freeGB: 60, usagePct: 33.4 },
  });
});

test('an empty file system that gives no room is not used', () => {
  assert.deepEqual(toDiskRow(toReading(10_737_418, 0, 0)), {
    drive: '/data',
    totalGB: 0.01,
    freeGB: 0,
    usagePct: 0,
  });
});

test('a full one is used wholly', () => {
  assert.equal(toDiskRow(toReading(10, 10, 0)).usagePct, 100);
});
