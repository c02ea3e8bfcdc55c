import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createTree, keepRunning } from '../../../../test/support/host.ts';
import { waitUntilPasses } from '../../../../test/support/wait.ts';
import { createHangGuard } from '../../sampling/hang-guard.ts';
import { createLinuxReadings } from '../index.ts';
import { createNameCompletion, isCut, type NamedProcess, toFullName } from './names.ts';

const toProcess = (pid: number, name: string, startTicks = 1): NamedProcess => ({
  pid,
  name: Buffer.from(name),
  startTicks,
  virtualBytes: 4096,
});

const cut = 'signalbox-long-';

/** Longer than a busy machine takes to read a file. */
const patient = 10_000;

test('a cut name is continued from the base name of the first argument', () => {
  const full = toFullName(Buffer.from(cut), Buffer.from('/usr/bin/signalbox-long-name'));
  assert.equal(full, 'signalbox-long-name');
});

test('a first argument that does not continue the name is ignored', () => {
  for (const argument of ['', '/bin/sh', 'signalbox', '/signalbox-long-/sh', 'xsignalbox-long-name']) {
    assert.equal(toFullName(Buffer.from(cut), Buffer.from(argument)), cut);
  }
});

test('a name cut within a character is completed byte by byte', () => {
  const whole = Buffer.from('/opt/überwachungsdä-mon');
  const short = whole.subarray(5, 20);
  assert.equal(toFullName(short, whole), 'überwachungsdä-mon');
  assert.equal(toFullName(Buffer.from([0xff, 0x41]), Buffer.alloc(0)), '\ufffdA');
});

test('a name counts as cut only if it has 15 bytes and is not the name of a kernel thread', () => {
  assert.ok(isCut(toProcess(1, cut)));
  assert.ok(!isCut(toProcess(1, cut.slice(1))));
  assert.ok(!isCut({ ...toProcess(1, cut), virtualBytes: 0 }));
});

test('names are completed whether or not the first argument ends in NUL', async (t) => {
  const root = createTree(t, {
    '1/cmdline': '/bin/signalbox-long-name\0--port\x003000\0',
    '3/cmdline': '/bin/signalbox-long-name without an end',
  });
  const complete = createNameCompletion(root, createHangGuard(), patient);
  const names = await complete([toProcess(1, cut), toProcess(3, cut)]);
  assert.deepEqual([...names].sort(), [
    [1, 'signalbox-long-name'],
    [3, 'signalbox-long-name without an end'],
  ]);
});

test("a process that has ended keeps the kernel's name", async (t) => {
  const complete = createNameCompletion(createTree(t, {}), createHangGuard(), patient);
  assert.deepEqual([...(await complete([toProcess(1, cut)]))], [[1, cut]]);
});

test('each process is read once, and again when another takes over its id', async (t) => {
  const first = createTree(t, { '1/cmdline': 'signalbox-long-one' });
  const complete = createNameCompletion(first, createHangGuard(), patient);
  await complete([toProcess(1, cut)]);
  writeFileSync(join(first, '1/cmdline'), 'signalbox-long-two');
  assert.equal((await complete([toProcess(1, cut)])).get(1), 'signalbox-long-one');
  assert.equal((await complete([toProcess(1, cut, 2)])).get(1), 'signalbox-long-two');
  assert.equal((await complete([toProcess(1, cut)])).get(1), 'signalbox-long-two', 'forgotten meanwhile');
});

/**
 * Ends the waiting of readers for a writer, which would outlive the test. It stays until the folder is gone: a reader that
 * comes later would wait again.
 */
const release = (t: TestContext, pipes: readonly string[]): void => {
  const writers = pipes.map((pipe) => openSync(pipe, 'r+'));
  t.after(() => writers.forEach(closeSync));
};

test('a process that calls itself MainThread has the name of its program', async (t) => {
  const readings = createLinuxReadings();
  t.after(() => readings.close());
  const script = 'printf MainThread >/proc/$$/comm && echo named && read line';
  const child = spawn('/bin/sh', ['-c', script], { argv0: '/opt/signalbox-test', stdio: ['pipe', 'pipe', 'inherit'] });
  const pid = await keepRunning(t, child);
  await once(child.stdout, 'data');
  assert.equal(await readFile(`/proc/${pid}/comm`, 'utf8'), 'MainThread\n');
  await waitUntilPasses(async () => {
    const found = (await readings.processes()).find((process) => process.pid === pid);
    assert.equal(found?.name, 'signalbox-test');
  });
});

test('stuck processes together occupy one thread of the pool', async (t) => {
  const pids = [1, 2, 3, 4, 5, 6];
  const root = createTree(t, Object.fromEntries(pids.map((pid) => [`${pid}/status`, 'stuck'])));
  const pipes = pids.map((pid) => join(root, `${pid}/cmdline`));
  execFileSync('/usr/bin/mkfifo', pipes);
  const complete = createNameCompletion(root, createHangGuard());
  const stuck = pids.map((pid) => toProcess(pid, cut));
  let names = new Map<number, string>();
  let other: string | undefined;
  try {
    names = await complete(stuck);
    other = await Promise.race([readFile(join(root, '1/status'), 'utf8'), setTimeout(patient, 'no thread')]);
  } finally {
    release(t, pipes);
  }
  assert.deepEqual([names.size, other], [0, 'stuck']);
  await waitUntilPasses(async () => assert.equal((await complete(stuck)).size, pids.length));
});

test('a process that does not answer delays no other', async (t) => {
  const root = createTree(t, { '1/x': '' });
  const pipe = join(root, '1/cmdline');
  execFileSync('/usr/bin/mkfifo', [pipe]);
  const complete = createNameCompletion(root, createHangGuard());
  try {
    assert.deepEqual([...(await complete([toProcess(1, cut)]))], []);
  } finally {
    release(t, [pipe]);
  }
  await waitUntilPasses(async () => {
    assert.equal((await complete([toProcess(1, cut)])).get(1), cut);
  });
});
