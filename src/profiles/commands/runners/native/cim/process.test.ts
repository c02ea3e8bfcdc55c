import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { getPriority } from 'node:os';
import { type TestContext, test } from 'node:test';
import { readOutput, run } from '../../../../../../test/support/native-commands.ts';
import { waitUntil, waitUntilPasses } from '../../../../../../test/support/wait.ts';
import type { Row } from '../../../execution/runner.ts';

/** A process of low priority that lasts as long as the test. */
const startSleep = async (t: TestContext): Promise<number> => {
  const child = spawn('/usr/bin/nice', ['-n', '7', '/bin/sleep', '300']);
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  const pid = Number(child.pid);
  // Its memory is complete once it sleeps.
  await waitUntil('the process sleeps', () =>
    /^S\S* +sleep$/.test(readOutput('ps', '-o', 'stat=,comm=', '-p', `${pid}`)),
  );
  return pid;
};

test('every property of Win32_Process matches ps', async (t) => {
  const pid = await startSleep(t);
  let row: Row = {};
  await waitUntil('the process is listed', async () => {
    [row = {}] = await run(`Win32_Process -Filter "ProcessId = ${pid}"`);
    return 'ProcessId' in row;
  });
  const columns = 'ppid=,sess=,nlwp=,priority=,rss=,vsz=,comm=';
  const [parent, session, threads, priority, rss, vsz, name] = readOutput('ps', '-o', columns, '-p', `${pid}`).split(
    / +/,
  );
  const { CreationDate, KernelModeTime, UserModeTime, ...others } = row;
  assert.deepEqual(others, {
    ProcessId: pid,
    ParentProcessId: Number(parent),
    SessionId: Number(session),
    HandleCount: readdirSync(`/proc/${pid}/fd`).length,
    ThreadCount: Number(threads),
    Priority: Number(priority),
    Name: name,
    ExecutablePath: readOutput('readlink', `/proc/${pid}/exe`),
    WorkingSetSize: Number(rss) * 1024,
    VirtualSize: Number(vsz) * 1024,
  });
  assert.equal(others.Priority, 27 + getPriority());
  const started = Date.parse(`${readOutput('ps', '-o', 'lstart=', '-p', `${pid}`)}`);
  assert.ok(Math.abs(Date.parse(String(CreationDate)) - started) <= 2000);
  assert.ok(Number(KernelModeTime) + Number(UserModeTime) < 1e7);
});

test('times of Win32_Process match process.cpuUsage, in units of 100 ns', async () => {
  // Uses much more processor time of both kinds than the tolerance below.
  while (process.cpuUsage().system < 200_000) statSync('/');
  // A reading may be half a second old.
  await waitUntilPasses(async () => {
    const [row = {}] = await run(`Win32_Process -Filter "ProcessId = ${process.pid}"`);
    const { user, system } = process.cpuUsage();
    assert.deepEqual([row['ParentProcessId'], row['ExecutablePath']], [process.ppid, process.execPath]);
    for (const [name, microseconds] of [
      ['UserModeTime', user],
      ['KernelModeTime', system],
    ] as const) {
      const difference = microseconds - Number(row[name]) / 10;
      assert.ok(Math.abs(difference) < 50_000, `${name} is ${row[name]}, ${difference} µs less`);
    }
  });
});
