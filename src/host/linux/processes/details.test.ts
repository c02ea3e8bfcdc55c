import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { test } from 'node:test';
import { createTree, inBackground, keepRunning } from '../../../../test/support/host.ts';
import { waitUntilPasses } from '../../../../test/support/wait.ts';
import { parseStatusSizes, readProcessDetails } from './details.ts';

test('details have the program, open files and sizes of the process', async (t) => {
  const pid = await keepRunning(t, spawn('/bin/sleep', ['60'], inBackground));
  await waitUntilPasses(async () => {
    const details = (await readProcessDetails('/proc', [pid])).get(pid);
    assert.equal(details?.executablePath, readlinkSync(`/proc/${pid}/exe`));
    assert.equal(details?.handles, readdirSync(`/proc/${pid}/fd`).length);
    assert.ok((details?.privateBytes ?? 0) > 0);
    assert.equal(typeof details?.pagedBytes, 'number');
  });
});

test('a process that has ended has no details', async () => {
  assert.deepEqual([...(await readProcessDetails('/proc', [2 ** 22 + 1])).keys()], []);
});

test('details that may not be read are null', async (t) => {
  const root = createTree(t, { '7/status': 'Name:\tkthreadd\nThreads:\t1\n' });
  assert.deepEqual((await readProcessDetails(root, [7])).get(7), {
    privateBytes: null,
    pagedBytes: null,
    executablePath: null,
    handles: null,
  });
});

test('sizes in status are in kB', () => {
  assert.deepEqual(parseStatusSizes('VmPeak:\t 9 kB\nVmData:\t  85528 kB\nVmSwap:\t       12 kB\n'), {
    privateBytes: 85528 * 1024,
    pagedBytes: 12 * 1024,
  });
});

test('a process name that looks like a size is ignored', () => {
  const status = 'Name:\tVmData: 5 kB\nVmData:\t  8 kB\n';
  assert.deepEqual(parseStatusSizes(status), { privateBytes: 8192, pagedBytes: null });
});
