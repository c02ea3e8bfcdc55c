import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProcessReading } from '../../host/readings.ts';
import { toProcessRow, toRanking } from './process-row.ts';

const toReading = (pid: number, workingSetBytes: number, name = 'x'): ProcessReading => ({
  ...{ pid, parentPid: 1, name, userSeconds: 1.004, kernelSeconds: 2.1, workingSetBytes },
  ...{ virtualBytes: null, threads: null, sessionId: null, priority: null, startedAt: null },
});

test('the largest working set comes first, equal ones by process id', () => {
  const reading = [toReading(5, 10), toReading(9, 30), toReading(2, 10), toReading(3, 20)];
  assert.deepEqual(
    toRanking(reading).map(({ pid }) => pid),
    [9, 3, 2, 5],
  );
});

test('a reading is left as it is and put in order once', () => {
  const reading = [toReading(1, 1), toReading(2, 2)];
  const ranking = toRanking(reading);
  assert.equal(reading[0]?.pid, 1);
  assert.equal(toRanking(reading), ranking);
});

test('memory is in MiB with one decimal, processor time in seconds with two (D25)', () => {
  const row = toProcessRow(toReading(7, 52_830_208, 'a) b'));
  assert.deepEqual(row, { name: 'a) b', pid: 7, memoryMB: 50.4, cpu: 3.1 });
});

test('processor time that the system does not tell is null', () => {
  assert.equal(toProcessRow({ ...toReading(7, 1), userSeconds: null }).cpu, null);
  assert.equal(toProcessRow({ ...toReading(7, 1), kernelSeconds: null }).cpu, null);
});
