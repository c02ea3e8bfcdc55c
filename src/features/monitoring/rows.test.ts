import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileSystemReading, ProcessReading } from '../../host/readings.ts';
import { listProcessRows, toDiskRow, toProcessRow } from './routes.ts';

const toProcess = (pid: number, workingSetBytes: number, name = 'x'): ProcessReading => ({
  pid,
  parentPid: 1,
  name,
  userSeconds: 1.004,
  kernelSeconds: 2.1,
  workingSetBytes,
  virtualBytes: null,
  threads: null,
  sessionId: null,
  priority: null,
  startedAt: null,
});

test('processes are sorted by working set, largest first, then by process id', () => {
  const reading = [toProcess(5, 10), toProcess(9, 30), toProcess(2, 10), toProcess(3, 20)];
  assert.deepEqual(
    listProcessRows(reading, 9).map(({ pid }) => pid),
    [9, 3, 2, 5],
  );
});

test('sorting does not change the reading, and each row is built once', () => {
  const reading = [toProcess(1, 1), toProcess(2, 2), toProcess(3, 3)];
  const list = (top: number) => listProcessRows(reading, top).map(({ pid }) => pid);
  assert.deepEqual([list(1), list(3), list(2), list(0)], [[3], [3, 2, 1], [3, 2], []]);
  assert.equal(reading[0]?.pid, 1);
  assert.equal(listProcessRows(reading, 1)[0], listProcessRows(reading, 3)[0]);
});

test('memory is in MiB with one decimal, CPU time in seconds with two (D25)', () => {
  const row = toProcessRow(toProcess(7, 52_830_208, 'a) b'));
  assert.deepEqual(row, { name: 'a) b', pid: 7, memoryMB: 50.4, cpu: 3.1 });
});

test('CPU time that the system does not report is null', () => {
  assert.equal(toProcessRow({ ...toProcess(7, 1), userSeconds: null }).cpu, null);
  assert.equal(toProcessRow({ ...toProcess(7, 1), kernelSeconds: null }).cpu, null);
});

const toDisk = (totalBytes: number, usedBytes: number, availableBytes: number): FileSystemReading => ({
  mountPath: '/data',
  device: '/dev/sdb1',
  type: 'ext4',
  kind: 'fixed',
  label: null,
  totalBytes,
  usedBytes,
  availableBytes,
});

test('space reserved for root is neither used nor free (D26)', () => {
  const gigabyte = 2 ** 30;
  assert.deepEqual(toDiskRow(toDisk(100 * gigabyte, 30.126 * gigabyte, 60 * gigabyte)), {
    drive: '/data',
    totalGB: 100,
    freeGB: 60,
    usagePct: 33.4,
  });
});

test('an empty file system without space is 0 % used', () => {
  assert.deepEqual(toDiskRow(toDisk(10_737_418, 0, 0)), {
    drive: '/data',
    totalGB: 0.01,
    freeGB: 0,
    usagePct: 0,
  });
});

test('a full file system is 100 % used', () => {
  assert.equal(toDiskRow(toDisk(10, 10, 0)).usagePct, 100);
});
