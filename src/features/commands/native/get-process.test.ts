import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { writeProgram } from '../../../../test/support/child-programs.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { createHostReadings } from '../../../host/index.ts';
import type { HostReadings, ProcessReading } from '../../../host/readings.ts';
import { CommandFailure } from '../runner.ts';
import { createGetProcess } from './get-process.ts';

const readRows = (host: HostReadings) => {
  const getProcess = createGetProcess(host);
  return async (...given: Parameters<typeof getProcess>) => (await getProcess(...given)).rows;
};

/** Starts a process with the given name that lasts as long as the test. Then opens the host's readings. */
const startNamed = async (
  t: TestContext,
  name: string,
): Promise<{
  pid: number;
  program: string;
  host: HostReadings;
  getProcess: ReturnType<typeof readRows>;
}> => {
  const program = join(dirname(writeProgram(t, 'unused', 'exit')), name);
  copyFileSync('/bin/sleep', program);
  const child = spawn(program, ['300']);
  await once(child, 'spawn');
  // A process's memory is complete once the process sleeps.
  await waitUntil('the process sleeps', () => /^State:\tS/m.test(readFileSync(`/proc/${child.pid}/status`, 'utf8')));
  const host = createHostReadings();
  t.after(() => {
    host.close();
    child.kill('SIGKILL');
  });
  return { pid: Number(child.pid), program, host, getProcess: readRows(host) };
};

test('Get-Process matches ps', async (t) => {
  const { pid, program, getProcess } = await startNamed(t, 'ex)am ple');
  const [row, ...others] = await getProcess({ Name: ['EX)AM P?e'] });
  assert.ok(row);
  assert.deepEqual(others, []);
  const shown = execFileSync('/bin/ps', ['-o', 'ppid=,sess=,nlwp=,rss=,vsz=,cputimes=', '-p', String(pid)]);
  const [ParentId, SessionId, ThreadCount, rss, vsz, CPU] = shown.toString().trim().split(/ +/).map(Number);
  assert.deepEqual(
    { ...row, CPU: Math.floor(Number(row['CPU'])) },
    {
      ...row,
      Id: pid,
      ProcessName: 'ex)am ple',
      ParentId,
      SessionId,
      ThreadCount,
      WorkingSet64: Number(rss) * 1024,
      VirtualMemorySize64: Number(vsz) * 1024,
      CPU,
      Path: program,
    },
  );
  assert.ok(Math.abs(Date.parse(String(row['StartTime'])) - Date.now()) < 60_000);
  assert.ok(Number(row['HandleCount']) >= 3);
});

test('memory, handles and start of a process match ps and /proc', async (t) => {
  const { pid, getProcess } = await startNamed(t, 'aaa-sizes');
  const [row = {}] = await getProcess({ Id: [pid] });
  const findKB = (file: string, name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1]);
  const [size = '', ...start] = execFileSync('/bin/ps', ['-o', 'size=,lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { LC_ALL: 'C' },
  })
    .trim()
    .split(/ +/);
  // ps counts the stack as data.
  assert.equal(row['PrivateMemorySize64'], (Number(size) - findKB('status', 'VmStk')) * 1024);
  assert.equal(row['PagedMemorySize64'], findKB('smaps_rollup', 'Swap') * 1024);
  assert.equal(row['HandleCount'], readdirSync(`/proc/${pid}/fd`).length);
  assert.ok(Math.abs(Date.parse(String(row['StartTime'])) - Date.parse(start.join(' '))) <= 2000);
});

test('processes are chosen by name or id, and sorted by name', async (t) => {
  const { pid, getProcess } = await startNamed(t, 'aaa-first');
  const all = await getProcess({});
  const names = all.map(({ ProcessName }) => String(ProcessName).toLowerCase());
  assert.deepEqual(names, [...names].sort());
  const byId = await getProcess({ Id: [process.pid, pid] });
  assert.deepEqual(
    byId.map(({ Id }) => Id),
    [pid, process.pid],
  );
  const byName = await getProcess({ Name: ['aaa-f*', 'nosuch*'] });
  assert.deepEqual(
    byName.map(({ Id }) => Id),
    [pid],
  );
});

test('Get-Process fails as in PowerShell for an id, or a name without wildcards, that no process has', async (t) => {
  const { pid, getProcess } = await startNamed(t, 'aaa-there');
  const noName = 'Cannot find a process with the name "nosuch". Verify the process name and call the cmdlet again.';
  await assert.rejects(getProcess({ Name: ['aaa-there', 'nosuch'] }), new CommandFailure(noName));
  const noId = new CommandFailure('Cannot find a process with the process identifier 4294967295.');
  await assert.rejects(getProcess({ Id: [pid, 4294967295] }), noId);
});

test('unknown properties of a process, and those of an ended process, are null', async (t) => {
  const { host } = await startNamed(t, 'aaa-other');
  const nothing = { userSeconds: null, kernelSeconds: null, threads: null, virtualBytes: null };
  const reading: ProcessReading = {
    ...nothing,
    pid: 7,
    parentPid: 1,
    name: 'ghost',
    workingSetBytes: 4096,
    sessionId: null,
    priority: null,
    startedAt: null,
  };
  const getProcess = readRows({
    ...host,
    processes: async () => [reading],
    processDetails: async () => new Map(),
  });
  const { Id, ProcessName, WorkingSet64, ParentId, ...others } = (await getProcess({}))[0] ?? {};
  assert.deepEqual([Id, ProcessName, WorkingSet64, ParentId], [7, 'ghost', 4096, 1]);
  assert.deepEqual(new Set(Object.values(others)), new Set([null]));
});
