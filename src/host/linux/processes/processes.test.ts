import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTree, inBackground, inEnglish, keepRunning, toLines } from '../../../../test/support/host.ts';
import { waitUntilPasses } from '../../../../test/support/wait.ts';
import type { ProcessReading } from '../../readings.ts';
import { createLinuxReadings } from '../index.ts';

const readings = createLinuxReadings();
test.after(() => readings.close());

const find = async (pid: number): Promise<ProcessReading> => {
  const found = (await readings.processes()).find((process) => process.pid === pid);
  assert.ok(found, `no process ${pid}`);
  return found;
};

test('a reading of a process has the values that ps shows', async (t) => {
  const pid = await keepRunning(t, spawn('/bin/sleep', ['60'], inBackground));
  await waitUntilPasses(async () => {
    const [line = ''] = toLines(
      execFileSync('ps', ['-o', 'ppid=,rss=,vsz=,nlwp=,sess=,etimes=,comm=', '-p', `${pid}`], inEnglish),
    );
    const found = await find(pid);
    const age = Math.floor((Date.now() - (found.startedAt?.getTime() ?? 0)) / 1000);
    const [parent, resident, virtual, threads, session, seconds, name] = line.split(/\s+/);
    assert.deepEqual([found.parentPid, found.workingSetBytes / 1024, (found.virtualBytes ?? 0) / 1024].map(String), [
      parent,
      resident,
      virtual,
    ]);
    assert.deepEqual([found.threads, found.sessionId].map(String), [threads, session]);
    assert.ok(Math.abs(age - Number(seconds)) <= 1, `${age} s, ${seconds} s`);
    assert.equal(found.name, name);
  });
});

test('every process that ps lists before and after is in the reading', async () => {
  const list = (): number[] => toLines(execFileSync('ps', ['-eo', 'pid='], inEnglish)).map(Number);
  const before = list();
  await waitUntilPasses(async () => {
    const pids = new Set((await readings.processes()).map(({ pid }) => pid));
    const after = new Set(list());
    assert.deepEqual(
      before.filter((pid) => after.has(pid) && !pids.has(pid)),
      [],
    );
  });
});

test('processor seconds are those that Node counts for itself (D25)', async () => {
  const end = performance.now() + 100;
  while (performance.now() < end);
  await waitUntilPasses(async () => {
    const { userSeconds, kernelSeconds } = await find(process.pid);
    const { user, system } = process.cpuUsage();
    const difference = (user + system) / 1e6 - ((userSeconds ?? 0) + (kernelSeconds ?? 0));
    assert.ok(Math.abs(difference) < 0.1, `${difference} s`);
  });
});

for (const name of ['a) b', '((', ') S 1 2 3', 'line\nbreak', '"\\{}', 'ü€']) {
  test(`a process named ${JSON.stringify(name)} is listed with that name`, async (t) => {
    const pid = await keepRunning(
      t,
      spawn('/bin/sh', ['-c', 'printf %s "$1" >/proc/$$/comm; read _', 'sh', name], inBackground),
    );
    await waitUntilPasses(async () => assert.equal((await find(pid)).name, name));
    assert.equal((await find(pid)).parentPid, process.pid);
  });
}

test('bytes of a name that are not UTF-8 are replaced', async (t) => {
  const pid = await keepRunning(t, spawn('/bin/sh', ['-c', "printf 'x\\377y' >/proc/$$/comm; read _"], inBackground));
  await waitUntilPasses(async () => assert.equal((await find(pid)).name, 'x\ufffdy'));
});

test('a process without a name is listed', async (t) => {
  const pid = await keepRunning(t, spawn('/bin/sh', ['-c', "printf '\\000' >/proc/$$/comm; read _"], inBackground));
  await waitUntilPasses(async () => assert.equal((await find(pid)).name, ''));
});

test('a name longer than the kernel keeps is completed', async (t) => {
  const name = 'signalbox-with-a-long-name';
  const folder = createTree(t, { [name]: { link: '/bin/sleep' } });
  const pid = await keepRunning(t, spawn(join(folder, name), ['60'], inBackground));
  await waitUntilPasses(async () => assert.equal((await find(pid)).name, name));
});

test('a reading is shared for half a second, then replaced (D25)', async () => {
  let first: readonly ProcessReading[] = [];
  // A reading that is nearly half a second old may be replaced between the two.
  await waitUntilPasses(async () => {
    first = await readings.processes();
    assert.equal(await readings.processes(), first);
  });
  await waitUntilPasses(async () => assert.notEqual(await readings.processes(), first), 2000);
});

test('a process that has ended is not in the next reading', async (t) => {
  const pid = await keepRunning(t, spawn('/bin/sh', ['-c', 'read _'], inBackground));
  await waitUntilPasses(() => find(pid));
  process.kill(pid, 'SIGKILL');
  await waitUntilPasses(() => assert.rejects(() => find(pid)));
});

test('a process that ends while it is read is left out', async (t) => {
  const stat = '7 (x) S 1 7 7 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 5 4096 1 0';
  const root = createTree(t, {
    'proc/stat': 'cpu  1 1 1 1 0 0 0 0 0 0\nbtime 1700000000\n',
    'proc/7/stat': stat,
    'proc/7/statm': '1 1 0 0 0 0 0',
    'proc/8/stat': stat,
    'proc/9/other': '',
    'proc/sys/x': '',
  });
  const other = createLinuxReadings(root);
  t.after(() => other.close());
  const [only, ...rest] = await other.processes();
  assert.equal(only?.pid, 7);
  assert.equal(only.startedAt?.toISOString(), '2023-11-14T22:13:20.050Z');
  assert.deepEqual(rest, []);
});
