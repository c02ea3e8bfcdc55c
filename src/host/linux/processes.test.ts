import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createTree, inBackground, inEnglish, keepRunning, toLines } from '../../../test/support/host.ts';
import { fc } from '../../../test/support/random.ts';
import { waitUntilPasses } from '../../../test/support/wait.ts';
import { createLinuxReadings } from '../index.ts';
import { createHangGuard } from '../reading.ts';
import type { ProcessReading } from '../readings.ts';
import {
  createNameCompletion,
  createOwnerReader,
  isCut,
  type NamedProcess,
  parsePageSize,
  parseProcessStat,
  parseResidentPages,
  parseStatusSizes,
  readPageSize,
  readProcessDetails,
  readUserNames,
  toFullName,
} from './processes.ts';

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

test('CPU seconds are those that Node counts for itself (D25)', async () => {
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
  // A reading that is nearly half a second old may be replaced between the two calls.
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

const behindName =
  ' S 812 4242 4243 34816 4242 4194560 512 0 3 0 250 125 7 9 20 0 11 0 98765 1184903168 12898 ' +
  '18446744073709551615 1 2 3 0 0 0 0 4096 16386 0 0 0 17 1 0 0 0 0 0 4 5 6 7 8 9 10 0\n';

const toContent = (name: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from('4242 ('), name, Buffer.from(`)${behindName}`)]);

test('fields of a process are read at the positions that proc(5) gives', () => {
  assert.deepEqual(parseProcessStat(toContent(Buffer.from('node'))), {
    name: Buffer.from('node'),
    parentPid: 812,
    session: 4243,
    userTicks: 250,
    kernelTicks: 125,
    priority: 20,
    threads: 11,
    startTicks: 98765,
    virtualBytes: 1184903168,
  });
});

test('a process with any name has readable fields', () => {
  const byte = fc.oneof(fc.integer({ min: 1, max: 255 }), fc.constantFrom(...Buffer.from('() \n0S')));
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 64 }), (bytes) => {
      const { name, parentPid, virtualBytes } = parseProcessStat(toContent(Buffer.from(bytes)));
      assert.deepEqual([...name], bytes);
      assert.deepEqual([parentPid, virtualBytes], [812, 1184903168]);
    }),
  );
});

test('a kernel thread has no memory and may have a negative priority', () => {
  const content = '14 (ksoftirqd/0) S 2 0 0 0 -1 69238848 0 0 0 0 0 3 0 0 -2 0 1 0 27 0 0 18446744073709551615 0 0 0\n';
  const { name, virtualBytes, priority, kernelTicks } = parseProcessStat(Buffer.from(content));
  assert.equal(name.toString(), 'ksoftirqd/0');
  assert.deepEqual({ virtualBytes, priority, kernelTicks }, { virtualBytes: 0, priority: -2, kernelTicks: 3 });
});

test('the name stays valid when the buffer is reused', () => {
  const content = toContent(Buffer.from('node'));
  const { name } = parseProcessStat(content);
  content.fill(0);
  assert.equal(name.toString(), 'node');
});

test('resident pages are the second figure of statm', () => {
  assert.equal(parseResidentPages(Buffer.from('289281 12898 9876 1 0 40000 0\n')), 12898);
});

test('the size of a page is the one that getconf reports', () => {
  assert.equal(readPageSize(), Number(toLines(execFileSync('getconf', ['PAGESIZE'], inEnglish))[0]));
});

test('memory allocated between the two readings does not change the size of a page', () => {
  assert.equal(parsePageSize('VmPeak:\t9 kB\nVmSize:\t  404096 kB\n', '100000 5 5 1 0 9 0'), 4096);
  assert.equal(parsePageSize('VmSize:\t  6400000 kB\n', '101000 5 5 1 0 9 0'), 65536);
});

test('process files without a size of memory are an error', () => {
  assert.throws(() => parsePageSize('', '1 2 3'), /size of a page/);
  assert.throws(() => parsePageSize('VmSize:\t 4 kB\n', ''), /size of a page/);
});

const toProcess = (pid: number, name: string, startTicks = 1): NamedProcess => ({
  pid,
  name: Buffer.from(name),
  startTicks,
  virtualBytes: 4096,
});

const cut = 'signalbox-long-';

/** Milliseconds that suffice to read a file even on a busy machine. */
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
 * Opens the pipes for writing, so that no reader waits longer than the test. The pipes stay open until the folder is
 * deleted, because a later reader would wait again.
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

const toStatus = (uid: number): string =>
  `Name:\tUid: 5 5 5 5\nUmask:\t0022\nUid:\t0\t${uid}\t0\t0\nGid:\t0\t0\t0\t0\n`;
const old = new Date(0);

test('the owner of a process is the name of the user that runs it', async (t) => {
  const pid = await keepRunning(t, spawn('/bin/sleep', ['60'], inBackground));
  const readOwners = createOwnerReader('/proc', '/etc/passwd');
  assert.equal((await readOwners([{ pid, startedAt: new Date() }])).get(pid), userInfo().username);
});

test('a user without a name is a number, and a process that has ended has no owner', async (t) => {
  const root = createTree(t, { '7/status': toStatus(1234), passwd: 'root:x:0:0::/root:/bin/sh\n' });
  const readOwners = createOwnerReader(root, join(root, 'passwd'));
  const found = [7, 8].map((pid) => ({ pid, startedAt: old }));
  assert.deepEqual([...(await readOwners(found))], [[7, '1234']]);
  assert.deepEqual([...(await createOwnerReader(root, join(root, 'nothing'))(found))], [[7, '1234']]);
});

test('the owner is read again in the first minute of a process, and when its id is used again', async (t) => {
  const root = createTree(t, { '7/status': toStatus(1), passwd: 'one:x:1:1\ntwo:x:2:2\n' });
  const readOwners = createOwnerReader(root, join(root, 'passwd'));
  const read = async (startedAt: Date) => (await readOwners([{ pid: 7, startedAt }])).get(7);
  const young = new Date();
  assert.deepEqual([await read(young), await read(old)], ['one', 'one']);
  writeFileSync(join(root, '7/status'), toStatus(2));
  assert.equal(await read(old), 'one');
  assert.equal(await read(young), 'two');
});

test('the first name of a user id counts, and damaged lines are ignored', (t) => {
  const passwd = 'root:x:0:0::/root:/bin/sh\ntoor:x:0:0::/:\n\nnobody\n:x:5:5\nweb:x:33:33::/var/www:\n';
  const users = readUserNames(join(createTree(t, { passwd }), 'passwd'));
  assert.deepEqual([...users].sort(), [
    ['0', 'root'],
    ['33', 'web'],
  ]);
});

test('the users of this machine have names, and a file that is missing has none', () => {
  assert.equal(readUserNames().get('0'), 'root');
  assert.equal(readUserNames('/nonexistent').size, 0);
});

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

test('the sizes in the status of a process are in kB', () => {
  assert.deepEqual(parseStatusSizes('VmPeak:\t 9 kB\nVmData:\t  85528 kB\nVmSwap:\t       12 kB\n'), {
    privateBytes: 85528 * 1024,
    pagedBytes: 12 * 1024,
  });
});

test('a process name that looks like a size is ignored', () => {
  const status = 'Name:\tVmData: 5 kB\nVmData:\t  8 kB\n';
  assert.deepEqual(parseStatusSizes(status), { privateBytes: 8192, pagedBytes: null });
});
