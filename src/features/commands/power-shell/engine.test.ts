import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, type TestContext, test } from 'node:test';
import { powerShell, recordPowerShell } from '../../../../test/support/power-shell.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { createHostReadings } from '../../../host/index.ts';
import { Refusal } from '../language.ts';
import { createNativeRunner } from '../native/runner.ts';
import { checkCommand, type ParsedCommand } from '../policy.ts';
import { CommandFailure, type OutputRow } from '../runner.ts';
import { createPowerShellRunner } from './runner.ts';

// These tests run the script and the requests on the PowerShell engine.

const { program, skip } = powerShell;
const runner = createPowerShellRunner(program);

const host = createHostReadings();
after(() => host.close());

const signal = AbortSignal.timeout(300_000);
const self: ParsedCommand = { name: 'Get-Process', parameters: { Id: [process.pid] } };

/** Returns the rows for a command line, with a stand-in for a cmdlet that only Windows has. */
const runOnWindows = async (t: TestContext, cmdlet: string, line: string): Promise<OutputRow[]> => {
  const command = checkCommand(line);
  if (command instanceof Refusal) return assert.fail(command.message);
  return (await createPowerShellRunner(recordPowerShell(t, cmdlet).program).run(command, signal)).rows;
};

/** Lists the ids of this process's children that run the engine. */
const listPowerShells = (): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      const isOurs = readFileSync(`/proc/${pid}/status`, 'utf8').includes(`\nPPid:\t${process.pid}\n`);
      return isOurs && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('/pwsh.dll\0');
    } catch {
      return false;
    }
  });

// Newer versions of Node name their main thread, and PowerShell reports that name as the name of the process.
process.title = 'node';

test('PowerShell gives a process the same properties, types and values as the native runner', { skip }, async () => {
  const native = createNativeRunner({ host, clock: () => new Date() });
  const [ours] = (await native.run(self, signal)).rows;
  const [theirs] = (await runner.run(self, signal)).rows;
  assert.ok(ours && theirs);
  assert.deepEqual(Object.keys(theirs), Object.keys(ours));
  for (const [name, value] of Object.entries(theirs)) {
    if (value !== null && ours[name] !== null) assert.equal(typeof value, typeof ours[name], name);
  }
  const { Id, ProcessName, SessionId, ParentId, Path } = ours;
  assert.deepEqual({ ...theirs, Id, ProcessName, SessionId, ParentId, Path }, theirs);
  assert.match(String(theirs['StartTime']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('all processes are listed, and wildcards choose among them', { skip }, async () => {
  const all = await runner.run({ name: 'Get-Process', parameters: {} }, signal);
  assert.ok(all.rows.some(({ Id }) => Id === process.pid));
  assert.equal(all.truncated, false);
  const { rows } = await runner.run({ name: 'Get-Process', parameters: { Name: ['nod?', 'no-such-*'] } }, signal);
  assert.ok(rows.some(({ Id }) => Id === process.pid));
  assert.ok(rows.every(({ ProcessName }) => /^nod.$/i.test(String(ProcessName))));
});

test('a missing cmdlet is named in the error', { skip }, async () => {
  const commands: ParsedCommand[] = [
    { name: 'Get-Service', parameters: {} },
    { name: 'Get-EventLog', parameters: { LogName: 'System', Newest: 1, After: new Date(0) } },
    { name: 'Get-CimInstance', parameters: { ClassName: 'Win32_Process' } },
  ];
  for (const command of commands) {
    const form = new RegExp(`^Error: ${command.name} is not available in PowerShell 7\\.`);
    await assert.rejects(runner.run(command, signal), form);
  }
});

test('Get-Service gets lists of texts, and its enums become names', { skip }, async (t) => {
  const line = "Get-Service 'a b',c* -Include d -Exclude 2026-11-21T11:15:35Z";
  assert.deepEqual(await runOnWindows(t, 'Get-Service', line), [
    {
      Name: 'spooler',
      DisplayName: 'Exclude: String[] 2026-11-21T11:15:35Z; Include: String[] d; Name: String[] a b, c*',
      Status: 'Running',
      StartType: 'Automatic',
      ServiceType: 'Win32OwnProcess, InteractiveProcess',
      CanStop: true,
      MachineName: '.',
      SubState: null,
      ExitCode: null,
    },
  ]);
  const failure = new CommandFailure("Cannot find any service with service name 'nosuch'.");
  await assert.rejects(runOnWindows(t, 'Get-Service', 'Get-Service nosuch'), failure);
});

test('Get-EventLog of Windows PowerShell gets dates, numbers and lists', { skip }, async (t) => {
  const line = `Get-EventLog System -After 2026-01-01T00:00Z -Before 2026-01-02T00:00Z -EntryType information
    -InstanceId 3221226505 -Index 7,8 -Source demo`.replaceAll(/\s+/g, ' ');
  const [event, ...others] = await runOnWindows(t, 'Get-EventLog', line);
  assert.deepEqual(others, []);
  assert.equal(
    event?.['Message'],
    'After: DateTime 2026-01-01T00:00:00.000Z; Before: DateTime 2026-01-02T00:00:00.000Z; ' +
      'EntryType: String[] Information; Index: Int32[] 7, 8; InstanceId: Int64[] 3221226505; ' +
      'LogName: String System; Newest: Int32 50; Source: String[] demo',
  );
  const { TimeGenerated, EntryType, InstanceId, UserName } = event ?? {};
  assert.deepEqual(
    [TimeGenerated, EntryType, InstanceId, UserName],
    ['2026-01-01T00:00:01.000Z', 'Information', 0xc0000409, null],
  );
  assert.deepEqual(await runOnWindows(t, 'Get-EventLog', 'Get-EventLog System -Source nosuch'), []);
});

test('Get-WinEvent of PowerShell 7 gets a filter, and the remaining parameters filter its events', {
  skip,
}, async (t) => {
  const line =
    "Get-EventLog System -After 2026-01-01T00:00Z -EntryType Information,Error -Source 'source ?' -Index 1,3";
  const events = await runOnWindows(t, 'Get-WinEvent', line);
  assert.deepEqual(
    events.map(({ Index }) => Index),
    [3, 1],
  );
  const message = 'Level: Object[] 0, 4, 5, 1, 2; LogName: String System; StartTime: DateTime 2026-01-01T00:00:00.000Z';
  assert.deepEqual(events[1], {
    Index: 1,
    TimeGenerated: '2026-01-01T00:00:01.000Z',
    TimeWritten: '2026-01-01T00:00:01.000Z',
    EntryType: 'Information',
    Source: 'source 1',
    InstanceId: 0x40000001,
    EventID: 1,
    Category: null,
    Message: message,
    MachineName: 'pc',
    UserName: null,
  });
  assert.deepEqual(await runOnWindows(t, 'Get-WinEvent', 'Get-EventLog System -Source nosuch'), []);
});

test('Get-CimInstance returns the named properties and no command line', { skip }, async (t) => {
  const line = `Get-CimInstance Win32_Process -Property ProcessId,Name -Filter "Name LIKE 'a''%'"`.replace("''", '_');
  const given = "ClassName: String Win32_Process; Filter: String Name LIKE 'a_%'; Property: String[] ProcessId, Name";
  assert.deepEqual(await runOnWindows(t, 'Get-CimInstance', line), [{ ProcessId: given, Name: given }]);
});

test('no PowerShell process remains after a command or an abort', { skip }, async () => {
  await runner.run(self, signal);
  assert.deepEqual(listPowerShells(), []);
  const controller = new AbortController();
  const rejected = assert.rejects(runner.run(self, controller.signal), /^Error: enough$/);
  await waitUntil('PowerShell runs', () => listPowerShells().length > 0);
  controller.abort(new Error('enough'));
  await rejected;
  await waitUntil('PowerShell has ended', () => listPowerShells().length === 0);
});
