import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { getPriority, hostname, totalmem } from 'node:os';
import { type TestContext, test } from 'node:test';
import { writeProgram } from '../../../../test/support/child-programs.ts';
import { assertNear, host, now, readOutput, run } from '../../../../test/support/native-commands.ts';
import { systemctlScript } from '../../../../test/support/recorded.ts';
import { waitUntil, waitUntilPasses } from '../../../../test/support/wait.ts';
import { type CimClassName, cimClasses, cimClassNames } from '../cim-classes.ts';
import type { OutputRow } from '../runner.ts';
import { cimReaders, osTypeOf, toArchitecture } from './get-cim-instance.ts';

test('every instance of every class has exactly the properties of its class', async (t) => {
  const systemctl = [writeProgram(t, 'systemctl', systemctlScript)];
  for (const name of cimClassNames) {
    const rows = await run(name, systemctl);
    assert.notEqual(rows.length, 0, name);
    for (const row of rows) assert.deepEqual(Object.keys(row), cimClasses[name].properties, name);
  }
});

test('Win32_Service shows the recorded services of systemd', async (t) => {
  const systemctl = [writeProgram(t, 'systemctl', systemctlScript)];
  const rows = await run('Win32_Service -Filter \'Name LIKE "%s"\' -Property Name,State,StartMode,Status', systemctl);
  assert.deepEqual(rows, [{ Name: 'fails', State: 'Stopped', StartMode: 'Manual', Status: 'Error' }]);
  const [demo = {}] = await run('Win32_Service -Filter "Name = \'demo\'"', systemctl);
  assert.deepEqual([demo['StartName'], demo['ProcessId'], demo['Started']], ['demo', 23, true]);
  const [many = {}] = await run('Win32_Service -Filter "Name = \'many@1\'"', systemctl);
  assert.deepEqual([many['State'], many['StartMode'], many['ProcessId']], ['Start Pending', null, 28]);
});

test('-Property returns only those properties, in the order of the class, and -KeyOnly the keys', async () => {
  const [row = {}] = await run('Win32_ComputerSystem -Property Model,name');
  assert.deepEqual(Object.keys(row), ['Name', 'Model']);
  for (const name of cimClassNames.filter((each): each is CimClassName => each !== 'Win32_Service')) {
    const [keys = {}] = await run(`${name} -KeyOnly`);
    assert.deepEqual(Object.keys(keys), cimClasses[name].keys);
  }
});

/** Drive types by file system type. */
const driveTypes: Record<string, number> = { tmpfs: 6, devtmpfs: 6, nfs4: 4, cifs: 4, overlay: 3 };

/** Returns type, size and available bytes by mount path. */
const readDf = (): Map<string, string[]> => {
  const text = readOutput('df', '--all', '--block-size=1', '--output=target,fstype,size,avail');
  return new Map(
    text.split('\n').map((line) => {
      const [target = '', ...cells] = line.split(/ +/);
      return [target, cells];
    }),
  );
};

test('Win32_LogicalDisk matches df for every file system', async () => {
  // File systems may be mounted, resized or unmounted between the two readings.
  await waitUntilPasses(async () => {
    const rows = await run('Win32_LogicalDisk');
    const shown = readDf();
    assert.ok(rows.some(({ DeviceID }) => DeviceID === '/'));
    for (const row of rows.filter(({ DeviceID }) => shown.has(String(DeviceID)))) {
      const [type = '', size, available] = shown.get(String(row['DeviceID'])) ?? [];
      assert.deepEqual([row['FileSystem'], String(row['Size'])], [type, size], String(row['DeviceID']));
      const written = Math.abs(Number(available) - Number(row['FreeSpace']));
      assert.ok(written <= 0.05 * Number(size), `${row['DeviceID']}: ${available}, not ${row['FreeSpace']}`);
      assert.equal(row['DriveType'], driveTypes[type] ?? row['DriveType']);
    }
  });
});

test('the root is a local disk, and VolumeName is null without udev', async () => {
  const [root = {}] = await run(`Win32_LogicalDisk -Filter "DeviceID = '/'"`);
  assert.equal(root['DriveType'], 3);
  if (!existsSync('/dev/disk/by-label')) assert.equal(root['VolumeName'], null);
});

const architectures: Record<string, [number, string]> = {
  x86_64: [9, 'x64-based PC'],
  aarch64: [12, 'ARM64-based PC'],
};

const lscpu = readOutput('lscpu');

/** Returns lscpu's value for a label. Undefined if lscpu does not show the label. */
const findOfProcessor = (label: string): string | undefined => new RegExp(`^ *${label}: +(.*)$`, 'm').exec(lscpu)?.[1];

/** Returns the total size of all caches at a level, in KB. Null if lscpu shows none. */
const findCacheKB = (level: string): number | null => {
  const table = readOutput('lscpu', '--bytes', '--caches=NAME,ALL-SIZE');
  const bytes = new RegExp(`^${level} +(\\d+)$`, 'm').exec(table)?.[1];
  return bytes === undefined ? null : Number(bytes) / 1024;
};

const sum = (rows: Record<string, unknown>[], name: string): number | null =>
  rows.reduce<number | null>((total, row) => (row[name] === null ? total : (total ?? 0) + Number(row[name])), null);

test('Win32_OperatingSystem matches uname, os-release, ps and uptime', async () => {
  const [row = {}] = await run('Win32_OperatingSystem');
  assert.equal(row['Caption'], readOutput('sh', '-c', '. /etc/os-release; echo "$PRETTY_NAME"'));
  assert.equal(row['Version'], readOutput('uname', '-r'));
  assert.equal(row['BuildNumber'], readOutput('uname', '-v'));
  assert.equal(row['OSArchitecture'], `${readOutput('getconf', 'LONG_BIT')}-bit`);
  assert.deepEqual([row['CSName'], row['Status'], row['OSType']], [hostname(), 'OK', 36]);
  const booted = Date.parse(readOutput('uptime', '-s'));
  assert.ok(Math.abs(Date.parse(String(row['LastBootUpTime'])) - booted) < 5000);
  assert.deepEqual([row['LocalDateTime'], row['CurrentTimeZone']], [now.toISOString(), 0 - now.getTimezoneOffset()]);
  assertNear(readOutput('ps', '-eo', 'pid=').split('\n').length, row['NumberOfProcesses'], 0.5);
});

test('Win32_OperatingSystem has memory in KB and matches free', async () => {
  const [row = {}] = await run('Win32_OperatingSystem');
  const [, memory = '', swap = ''] = readOutput('free', '--kibi').split('\n');
  const [, total, , , , , available] = memory.split(/ +/).map(Number);
  const [, swapTotal = 0, , swapFree = 0] = swap.split(/ +/).map(Number);
  assert.equal(row['TotalVisibleMemorySize'], total);
  assert.equal(row['TotalVirtualMemorySize'], Number(total) + swapTotal);
  assertNear(available, row['FreePhysicalMemory'], 0.2);
  assertNear(Number(available) + swapFree, row['FreeVirtualMemory'], 0.2);
});

test('NumberOfUsers matches who, or is null if the system does not count users', async () => {
  const [row = {}] = await run('Win32_OperatingSystem -Property NumberOfUsers');
  const listed = readOutput('who').split('\n').filter(Boolean).length;
  assert.ok(row['NumberOfUsers'] === listed || (row['NumberOfUsers'] === null && listed === 0));
});

test('Win32_ComputerSystem matches lscpu, uname and the total memory', async () => {
  const [row = {}] = await run('Win32_ComputerSystem');
  assert.deepEqual([row['Name'], row['DNSHostName']], [hostname(), readOutput('hostname')]);
  assert.equal(row['SystemType'], architectures[readOutput('uname', '-m')]?.[1]);
  assert.equal(row['TotalPhysicalMemory'], totalmem());
  assert.equal(row['NumberOfProcessors'], Number(findOfProcessor('Socket\\(s\\)')));
  assert.equal(row['NumberOfLogicalProcessors'], Number(findOfProcessor('CPU\\(s\\)')));
  const isGuest = findOfProcessor('Flags')?.split(' ').includes('hypervisor') ?? null;
  assert.equal(row['HypervisorPresent'], isGuest);
});

test('Win32_Processor matches lscpu and uname', async () => {
  const rows = await run('Win32_Processor');
  assert.deepEqual(
    rows.map(({ DeviceID }) => DeviceID),
    rows.map((_, index) => `CPU${index}`),
  );
  assert.equal(sum(rows, 'NumberOfLogicalProcessors'), Number(findOfProcessor('CPU\\(s\\)')));
  assert.equal(sum(rows, 'L2CacheSize'), findCacheKB('L2'));
  assert.equal(sum(rows, 'L3CacheSize'), findCacheKB('L3'));
  const fastest = findOfProcessor('CPU max MHz');
  for (const row of rows) {
    assert.deepEqual([row['Name'], row['Manufacturer']], [findOfProcessor('Model name'), findOfProcessor('Vendor ID')]);
    assert.equal(row['NumberOfCores'], Number(findOfProcessor('Core\\(s\\) per socket')));
    assert.equal(row['MaxClockSpeed'], fastest === undefined ? null : Math.round(Number(fastest)));
    assert.equal(row['AddressWidth'], Number(readOutput('getconf', 'LONG_BIT')));
    assert.equal(row['Architecture'], architectures[readOutput('uname', '-m')]?.[0]);
  }
});

test('clock speed and load of a processor are whole numbers, as in CIM', async () => {
  const [processor] = await host.processors();
  assert.ok(processor);
  const read = (loadPercent: number | null) => {
    const processors = async () => [{ ...processor, loadPercent }];
    return cimReaders.Win32_Processor({ host: { ...host, processors }, clock: () => now, readUnits: async () => [] });
  };
  const [row] = await read(12.6);
  assert.equal(row?.LoadPercentage, 13);
  assert.ok(row.CurrentClockSpeed === null || Number.isInteger(row.CurrentClockSpeed));
  assert.deepEqual((await read(null))[0]?.LoadPercentage, null);
});

test("architectures have Windows' width, number and type", () => {
  const cases = [
    ['x64', 64, 9, 'x64-based PC'],
    ['arm64', 64, 12, 'ARM64-based PC'],
    ['ia32', 32, 0, 'X86-based PC'],
    ['riscv64', 64, null, 'riscv64'],
  ] as const;
  for (const [name, width, number, type] of cases) {
    assert.deepEqual(Object.values(toArchitecture(name)), [width, number, type]);
  }
});

test('operating systems have the number that CIM gives them, or null', () => {
  assert.deepEqual([osTypeOf('linux'), osTypeOf('win32'), osTypeOf('haiku')], [36, 18, null]);
});

/** Starts a low-priority process that lasts as long as the test. */
const startSleep = async (t: TestContext): Promise<number> => {
  const child = spawn('/usr/bin/nice', ['-n', '7', '/bin/sleep', '300']);
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  const pid = Number(child.pid);
  // A process's memory is complete once the process sleeps.
  await waitUntil('the process sleeps', () =>
    /^S\S* +sleep$/.test(readOutput('ps', '-o', 'stat=,comm=', '-p', `${pid}`)),
  );
  return pid;
};

test('every property of Win32_Process matches ps', async (t) => {
  const pid = await startSleep(t);
  let row: OutputRow = {};
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
  // The loops use much more user and system time than the tolerance below.
  while (process.cpuUsage().system < 200_000) statSync('/');
  // A reading may be up to half a second old.
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
