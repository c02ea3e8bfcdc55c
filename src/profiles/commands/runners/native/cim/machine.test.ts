import assert from 'node:assert/strict';
import { hostname, totalmem } from 'node:os';
import { test } from 'node:test';
import { assertNear, host, now, readOutput, run } from '../../../../../../test/support/native-commands.ts';
import { addressWidthOf, numberOf, osTypeOf, readProcessors, systemTypeOf } from './machine.ts';

const architectures: Record<string, [number, string]> = {
  x86_64: [9, 'x64-based PC'],
  aarch64: [12, 'ARM64-based PC'],
};

const lscpu = readOutput('lscpu');

/** The value that lscpu shows for a label, or undefined. */
const findOfProcessor = (label: string): string | undefined => new RegExp(`^ *${label}: +(.*)$`, 'm').exec(lscpu)?.[1];

/** Total size in KB of all caches of a level; null if lscpu shows none. */
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
    return readProcessors({ ...host, processors });
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
    assert.deepEqual([addressWidthOf(name), numberOf(name), systemTypeOf(name)], [width, number, type]);
  }
});

test("systems have CIM's number, or null if it has none", () => {
  assert.deepEqual([osTypeOf('linux'), osTypeOf('win32'), osTypeOf('haiku')], [36, 18, null]);
});
