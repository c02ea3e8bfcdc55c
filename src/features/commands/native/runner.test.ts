import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { isRunning, writeProgram } from '../../../../test/support/child-programs.ts';
import { systemctlScript } from '../../../../test/support/recorded.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { SettingsError } from '../../../config/settings-error.ts';
import { createHostReadings } from '../../../host/index.ts';
import { chooseRunner } from '../choose-runner.ts';
import { createNativeRunner } from './runner.ts';

const host = createHostReadings();
after(() => host.close());

const clock = (): Date => new Date();
const signal = new AbortController().signal;
const nowhere = { systemctl: [], journalctl: [], bootMark: '/' };

test('each command returns objects with its own properties', async (t) => {
  const paths = {
    systemctl: [writeProgram(t, 'systemctl', systemctlScript)],
    journalctl: [writeProgram(t, 'journalctl', 'echo "{}"')],
    bootMark: '/',
  };
  const runner = createNativeRunner({ host, clock, paths });
  const processes = await runner.run({ name: 'Get-Process', parameters: { Id: [process.pid] } }, signal);
  assert.equal(processes.rows[0]?.['Id'], process.pid);
  const services = await runner.run({ name: 'Get-Service', parameters: { Name: ['demo'] } }, signal);
  assert.equal(services.rows[0]?.['Status'], 'Running');
  const log = { LogName: 'System', Newest: 1 } as const;
  const events = await runner.run({ name: 'Get-EventLog', parameters: log }, signal);
  assert.deepEqual(Object.keys(events.rows[0] ?? {}).slice(0, 2), ['Index', 'TimeGenerated']);
});

test('an abort stops waiting for host readings that do not settle', async () => {
  const stuck = { ...host, fileSystems: () => new Promise<never>(() => {}) };
  const runner = createNativeRunner({ host: stuck, clock, paths: nowhere });
  const parameters = { ClassName: 'Win32_LogicalDisk' } as const;
  const controller = new AbortController();
  const run = runner.run({ name: 'Get-CimInstance', parameters }, controller.signal);
  controller.abort(new Error('overdue'));
  await assert.rejects(run, /^Error: overdue$/);
});

test('an abort ends systemctl before the command rejects', async (t) => {
  const systemctl = writeProgram(t, 'systemctl', 'echo $$ > "$0.pid"; exec sleep 300');
  const runner = createNativeRunner({ host, clock, paths: { ...nowhere, systemctl: [systemctl] } });
  const controller = new AbortController();
  const parameters = { ClassName: 'Win32_Service' } as const;
  const run = runner.run({ name: 'Get-CimInstance', parameters }, controller.signal);
  const rejected = assert.rejects(run, /^Error: enough$/);
  const readPid = (): number => Number(existsSync(`${systemctl}.pid`) && readFileSync(`${systemctl}.pid`));
  await waitUntil('the program runs', () => readPid() > 0);
  controller.abort(new Error('enough'));
  await rejected;
  assert.equal(isRunning(readPid()), false);
});

after(() => host.close());

const choose = async (
  commandRunner: 'auto' | 'native' | 'powershell',
  platform: NodeJS.Platform,
  ...powerShellPaths: string[]
): Promise<string> => {
  const runner = await chooseRunner({ commandRunner, powerShellPaths, host, clock, platform });
  return runner.name;
};

test('the runner is native on Linux and powershell on Windows, unless commandRunner sets one', async (t) => {
  const program = writeProgram(t, 'pwsh', 'exit 0');
  assert.equal(await choose('auto', 'linux', program), 'native');
  assert.equal(await choose('auto', 'win32', '/nonexistent', program), 'powershell');
  assert.equal(await choose('native', 'win32', program), 'native');
  assert.equal(await choose('powershell', 'linux', program), 'powershell');
});

test('without PowerShell the error says what to install or set', async () => {
  const reason =
    'commandRunner is powershell, but there is no PowerShell at /a/pwsh, /b/pwsh: ' +
    'install PowerShell, set powershellPath, or set commandRunner to native';
  await assert.rejects(choose('powershell', 'linux', '/a/pwsh', '/b/pwsh'), new SettingsError([reason]));
  await assert.rejects(choose('auto', 'win32'), /^SettingsError: commandRunner is auto, but .* at any known path/);
});
