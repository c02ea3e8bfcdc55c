import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requires } from '../faults/support/requirements.ts';
import { writeEntries } from './support/entries.ts';
import { type Machine, startMachine } from './support/machine.ts';
import { listServices, startServices } from './support/services.ts';

const statuses: Record<string, string> = {
  active: 'Running',
  activating: 'StartPending',
  deactivating: 'StopPending',
  inactive: 'Stopped',
  failed: 'Stopped',
};

/** Name, Status, StartType, ServiceType, CanStop, SubState, ExitCode. */
const services = [
  ['demo-done', 'Stopped', 'Manual', 'oneshot', false, 'dead', null],
  ['demo-esc\\x2daped', 'Running', 'Manual', 'simple', true, 'running', null],
  ['demo-failed', 'Stopped', 'Manual', 'simple', false, 'failed', 3],
  ['demo-killed', 'Stopped', 'Manual', 'simple', false, 'failed', 137],
  ['demo-manual', 'Stopped', 'Manual', 'simple', false, 'dead', null],
  ['demo-many@one', 'Running', 'Manual', 'simple', true, 'running', null],
  ['demo-masked', 'Stopped', 'Disabled', null, false, 'dead', null],
  ['demo-running', 'Running', 'Automatic', 'simple', true, 'running', null],
  ['demo-starting', 'StartPending', 'Manual', 'simple', false, 'start-pre', null],
  ['demo-stopping', 'StopPending', 'Manual', 'simple', false, 'stop', null],
  ['demo-transient', 'Running', 'Manual', 'simple', true, 'running', null],
];

/** Source, EntryType, Category, InstanceId, Message, newest first. */
const events = [
  ['demo-id', 'Error', null, 0xfc2e22bc, 'first\nsecond'],
  ['demo-utf8', 'Information', null, null, 'bad \ufffd utf8'],
  ['demo-bytes', 'Error', null, null, 'esc \u001b[1m bold'],
  ['demo-log', 'Warning', 'user', null, 'plain é "text"'],
];

const pick = (rows: Record<string, unknown>[], ...names: string[]): unknown[][] =>
  rows.map((row) => names.map((name) => row[name]));

const needed = requires({ programs: ['systemd-nspawn', 'nsenter'], mounts: true });
test("under a real systemd the commands return the values of systemd's own programs", needed, async (t) => {
  const machine = await startMachine(t);
  await startServices(machine);
  await writeEntries(machine);
  await t.test('Get-Service lists every service and its state', compareStates(machine));
  await t.test('Get-Service distinguishes all states', async () => {
    const rows = await machine.execute('Get-Service -Name demo-*');
    const names = ['Name', 'Status', 'StartType', 'ServiceType', 'CanStop', 'SubState', 'ExitCode'];
    assert.deepEqual(pick(rows, ...names), services);
    assert.equal(rows[7]?.['DisplayName'], 'Running "quoted" é');
  });
  await t.test('Win32_Service contains the process and the account of a service', compareProcesses(machine));
  await t.test('Get-EventLog returns the written entries', compareEvents(machine));
  await t.test(
    'the log System contains the entries of systemd itself, and Application those of other programs',
    async () => {
      const { execute } = machine;
      const system = pick(await execute('Get-EventLog System -Newest 1000'), 'Source', 'Message');
      assert.ok(system.some(([, text]) => text === 'Started demo-running.service - Running "quoted" é.'));
      assert.deepEqual(await execute('Get-EventLog System -Source demo-*'), []);
      assert.deepEqual(await execute('Get-EventLog Application -Source systemd'), []);
      const count = machine.run('journalctl', '-o', 'cat', '-q', '-p', '3', '_PID=1').match(/\n/g)?.length ?? 0;
      assert.equal((await execute('Get-EventLog System -Source systemd -EntryType Error')).length, count);
    },
  );
});

const compareStates = (machine: Machine) => async (): Promise<void> => {
  const { run, execute } = machine;
  const names = listServices(machine);
  const shown = run('systemctl', 'is-active', ...names)
    .trim()
    .split('\n');
  const expected = names.map((name, index) => [name, statuses[shown[index] ?? '']]);
  assert.deepEqual(pick(await execute('Get-Service'), 'Name', 'Status'), expected);
};

const compareProcesses =
  ({ run, execute }: Machine) =>
  async (): Promise<void> => {
    const filter = "Name LIKE 'demo%' AND State = 'Running'";
    const rows = await execute(`Get-CimInstance Win32_Service -Filter "${filter}"`);
    assert.equal(rows.length, 4);
    for (const { Name, ProcessId, StartName, Started, StartMode, Status } of rows) {
      assert.equal(`${ProcessId}`, run('systemctl', 'show', '-P', 'MainPID', `${Name}`).trim());
      assert.equal(StartName, run('ps', '-o', 'user=', '-p', `${ProcessId}`).trim());
      assert.deepEqual([Started, Status], [true, 'OK']);
      assert.equal(StartMode, Name === 'demo-running' ? 'Auto' : 'Manual');
    }
    const failed = await execute('Get-CimInstance Win32_Service -Filter "Name = \'demo-failed\'"');
    assert.deepEqual(pick(failed, 'State', 'Status', 'ExitCode', 'ProcessId'), [['Stopped', 'Error', 3, null]]);
  };

const compareEvents =
  ({ run, execute }: Machine) =>
  async (): Promise<void> => {
    const rows = await execute('Get-EventLog Application -Source demo-*');
    assert.deepEqual(pick(rows, 'Source', 'EntryType', 'Category', 'InstanceId', 'Message'), events);
    for (const { Source, TimeGenerated, MachineName, UserName } of rows) {
      const shown = run('journalctl', '-o', 'short-unix', '-t', `${Source}`);
      const [, seconds, milliseconds] = /^(\d+)\.(\d{3})/.exec(shown) ?? [];
      assert.equal(Date.parse(`${TimeGenerated}`), Number(`${seconds}${milliseconds}`));
      assert.deepEqual([MachineName, UserName], [run('hostname').trim(), 'root']);
    }
    const [, newest] = rows.map(({ Index }) => Number(Index));
    assert.deepEqual(pick(await execute(`Get-EventLog Application -Index ${newest}`), 'Source'), [['demo-utf8']]);
  };
