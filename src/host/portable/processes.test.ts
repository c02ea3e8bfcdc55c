import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLocalTime, toProcessDetails, toProcessReading } from './processes.ts';

test('process values that systeminformation does not report are null, never 0', () => {
  const listed = {
    ...{ pid: 7, parentPid: 1, name: 'node.exe', memRss: 2, memVsz: 3, priority: 8 },
    ...{ started: '2026-01-02 03:04:05', path: '' },
  };
  assert.deepEqual(toProcessReading(listed), {
    ...{ pid: 7, parentPid: 1, name: 'node.exe', userSeconds: null, kernelSeconds: null, threads: null },
    ...{ workingSetBytes: 2048, virtualBytes: 3072, sessionId: null, priority: 8 },
    startedAt: new Date(2026, 0, 2, 3, 4, 5),
  });
});

test('values that Windows does not report of its own processes are null', () => {
  const idle = { pid: 0, parentPid: 0, name: 'System Idle Process', memRss: 8, priority: 0 };
  const { virtualBytes, startedAt } = toProcessReading({ ...idle, memVsz: null, started: null });
  assert.deepEqual([virtualBytes, startedAt], [null, null]);
});

test('a time in an unknown format is null', () => {
  assert.equal(parseLocalTime(null), null);
  assert.equal(parseLocalTime('Tue 3PM'), null);
});

test('the executable path is complete whether systeminformation reports the program or its folder', () => {
  const pathOf = (name: string, path: string) => toProcessDetails({ name, path }).executablePath;
  assert.equal(pathOf('node', '/usr/bin'), '/usr/bin/node');
  assert.equal(pathOf('node', '/usr/bin/Node'), '/usr/bin/Node');
  assert.equal(pathOf('node', ''), null);
  assert.equal(toProcessDetails({ name: 'System' }).executablePath, null);
});
