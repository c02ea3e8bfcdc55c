import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { arch, hostname, totalmem } from 'node:os';
import { after, test } from 'node:test';
import { createHostReadings } from '../../../host/index.ts';
import { checkCommand } from '../check.ts';
import { type CimClassName, cimClasses, cimClassNames } from '../cim-classes.ts';
import { systemctlScript } from '../native/recorded.ts';
import { createNativeRunner } from '../native-runner.ts';
import { Refusal } from '../refusal.ts';
import type { Row } from '../runner.ts';
import { writeProgram } from '../testing.ts';

const host = createHostReadings();
after(() => host.close());

const signal = new AbortController().signal;
const now = new Date('2026-01-02T03:04:05.006Z');

const run = async (line: string, systemctl: readonly string[] = []): Promise<Row[]> => {
  const paths = { systemctl, journalctl: [], bootMark: '/' };
  const runner = createNativeRunner({ host, clock: () => now, paths });
  const command = checkCommand(`Get-CimInstance ${line}`);
  assert.ok(!(command instanceof Refusal));
  return (await runner.run(command, signal)).rows;
};

const readOutput = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' } }).trim();

test('every instance of every class has exactly the properties of its class', async (t) => {
  const systemctl = [writeProgram(t, 'systemctl', systemctlScript)];
  for (const name of cimClassNames) {
    const rows = await run(name, systemctl);
    assert.notEqual(rows.length, 0, name);
    for (const row of rows) assert.deepEqual(Object.keys(row), cimClasses[name].properties, name);
  }
});

test('Win32_OperatingSystem shows what uname and the system itself show', async () => {
  const [row = {}] = await run('Win32_OperatingSystem');
  assert.equal(row['Version'], readOutput('/bin/uname', '-r'));
  assert.equal(row['BuildNumber'], readOutput('/bin/uname', '-v'));
  assert.equal(row['CSName'], hostname());
  assert.equal(row['LocalDateTime'], now.toISOString());
  assert.equal(row['CurrentTimeZone'], 0 - now.getTimezoneOffset());
  assert.equal(row['TotalVisibleMemorySize'], Math.floor(totalmem() / 1024));
  const booted = Date.parse(readOutput('/usr/bin/uptime', '-s'));
  assert.ok(Math.abs(Date.parse(String(row['LastBootUpTime'])) - booted) < 5000);
  assert.ok(Number(row['FreePhysicalMemory']) < Number(row['TotalVisibleMemorySize']));
});

test('Win32_Processor and Win32_ComputerSystem show what lscpu shows', async () => {
  const shown = readOutput('/usr/bin/lscpu');
  const find = (label: string): string | undefined => new RegExp(`^ *${label}: +(.*)$`, 'm').exec(shown)?.[1];
  const processors = await run('Win32_Processor');
  const [system = {}] = await run('Win32_ComputerSystem');
  assert.equal(processors.length, Number(find('Socket\\(s\\)')));
  assert.equal(processors[0]?.['Name'], find('Model name'));
  assert.equal(processors[0]?.['NumberOfCores'], Number(find('Core\\(s\\) per socket')));
  assert.equal(system['NumberOfLogicalProcessors'], Number(find('CPU\\(s\\)')));
  assert.equal(system['TotalPhysicalMemory'], totalmem());
  assert.equal(
    system['SystemType'],
    { x64: 'x64-based PC', arm64: 'ARM64-based PC' }[arch() as 'x64'] ?? arch(),
  );
});

test('Win32_LogicalDisk shows the root file system as df shows it', async () => {
  const [row = {}] = await run(`Win32_LogicalDisk -Filter "DeviceID = '/'"`);
  const shown = readOutput('/bin/df', '-B1', '--output=fstype,size', '/').split('\n')[1]?.trim().split(/ +/);
  assert.deepEqual([row['FileSystem'], String(row['Size'])], shown);
  assert.ok(Number(row['FreeSpace']) <= Number(row['Size']));
});

test('Win32_Process shows this process', async () => {
  const [row = {}] = await run(`Win32_Process -Filter "ProcessId = ${process.pid}"`);
  assert.deepEqual([row['ParentProcessId'], row['ExecutablePath']], [process.ppid, process.execPath]);
  const seconds = Number(row['UserModeTime']) / 1e7;
  assert.ok(seconds > 0 && seconds <= process.cpuUsage().user / 1e6 + 0.02);
});

test('Win32_Service shows the recorded services of systemd', async (t) => {
  const systemctl = [writeProgram(t, 'systemctl', systemctlScript)];
  const rows = await run(
    'Win32_Service -Filter \'Name LIKE "%s"\' -Property Name,State,StartMode,Status',
    systemctl,
  );
  assert.deepEqual(rows, [{ Name: 'fails', State: 'Stopped', StartMode: 'Manual', Status: 'Error' }]);
  const [demo = {}] = await run('Win32_Service -Filter "Name = \'demo\'"', systemctl);
  assert.deepEqual([demo['StartName'], demo['ProcessId'], demo['Started']], ['demo', 23, true]);
  const [many = {}] = await run('Win32_Service -Filter "Name = \'many@1\'"', systemctl);
  assert.deepEqual([many['State'], many['StartMode'], many['ProcessId']], ['Start Pending', null, 28]);
});

test('only the properties asked for come, in the order of the class, and -KeyOnly brings the keys', async () => {
  const [row = {}] = await run('Win32_ComputerSystem -Property Model,name');
  assert.deepEqual(Object.keys(row), ['Name', 'Model']);
  for (const name of cimClassNames.filter((each): each is CimClassName => each !== 'Win32_Service')) {
    const [keys = {}] = await run(`${name} -KeyOnly`);
    assert.deepEqual(Object.keys(keys), cimClasses[name].keys);
  }
});
