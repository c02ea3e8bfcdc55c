import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { powerShell, recordPowerShell } from '../support/power-shell.ts';

const { skip } = powerShell;

/**
 * Starts the service with PowerShell's engine and a substitute for Get-Service, because Get-Service exists only on
 * Windows.
 */
const start = async (t: TestContext) => {
  const recorded = recordPowerShell(t, 'Get-Service');
  const app = await startApp(t, { settings: { commandRunner: 'powershell', powershellPath: recorded.program } });
  const token = await app.login('admin');
  const execute = (command: string) => app.request('POST', '/api/execute', { body: { command }, token });
  return { recorded, execute };
};

test('with PowerShell the result is an array of objects, too, and the command line is data', {
  skip,
}, async (t) => {
  const { recorded, execute } = await start(t);
  const command = "Get-Service '$(whoami)'";
  const { status, json } = await execute(command);
  assert.deepEqual([status, json['success'], json['command']], [200, true, command]);
  const [{ Name, DisplayName, Status } = {}] = json['result'] as Record<string, unknown>[];
  assert.deepEqual([Name, DisplayName, Status], ['spooler', 'Name: String[] $(whoami)', 'Running']);
  assert.ok(recorded.readInput().includes('"=$(whoami)"'));
  assert.ok(!recorded.readArguments().some((argument) => argument.includes('whoami')));
});

test('a command that fails in PowerShell gets 500 with success false and its message', { skip }, async (t) => {
  const { execute } = await start(t);
  const { status, json } = await execute('Get-Service nosuch');
  const error = "Cannot find any service with service name 'nosuch'.";
  assert.deepEqual([status, json], [500, { success: false, error }]);
});

test('psVersion is the version of the PowerShell at powershellPath', { skip }, async (t) => {
  const app = await startApp(t, { settings: { powershellPath: powerShell.program } });
  assert.equal((await app.request('GET', '/api/info')).json['psVersion'], '7.6.9');
});
