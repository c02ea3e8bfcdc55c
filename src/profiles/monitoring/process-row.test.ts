import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProcessReading } from '../../host/readings.ts';
import { listRows, toProcessRow } from './process-row.ts';

const toReading = (pid: number, workingSetBytes: number, name = 'x'): ProcessReading => ({
  ...{ pid, parentPid: 1, name, userSeconds: 1.004, kernelSeconds: 2.1, workingSetBytes },
  ...{ virtualBytes: null, threads: null, sessionId: null, priority: null, startedAt: null },
});

test('the largest working set comes first, equal ones by process id', () => {
  const reading = [toReading(5, 10), toReading(9, 30), toReading(2, 10), toReading(3, 20)];
  assert.deepEqual(
    listRows(reading, 9).map(({ pid }) => pid),
    [9, 3, 2, 5],
  );
});

test('a reading is left as it is, and each of its rows made once, however many are asked for', () => {
  const reading = [toReading(1, 1), toReading(2, 2), toReading(3, 3)];
  const list = (top: number) => listRows(reading, top).map(({ pid }) => pid);
  assert.deepEqual([list(1), list(3), list(2), list(0)], [[3], [3, 2, 1], [3, 2], []]);
  assert.equal(reading[0]?.pid, 1);
  assert.equal(listRows(reading, 1)[0], listRows(reading, 3)[0]);
});

test('memory is in MiB with one decimal, processor time in seconds with two (D25)', () => {
  const row = toProcessRow(toReading(7, 52_830_208, 'a) b'));
  assert.deepEqual(row, { name: 'a) b', pid: 7, memoryMB: 50.4, cpu: 3.1 });
});

test('processor time that the system does not tell is null', () => {
  assert.equal(toProcessRow({ ...toReading(7, 1), userSeconds: null }).cpu, null);
  assert.equal(toProcessRow({ ...toReading(7, 1), kernelSeconds: null }).cpu, null);
});
