import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { createStandIn } from '../support/power-shell.ts';

/** The service with a stand-in for PowerShell that prints the given messages. */
const start = async (t: TestContext, messages: object[]) => {
  const standIn = createStandIn(t, messages);
  const settings = { commandRunner: 'powershell', powershellPath: standIn.program };
  const app = await startApp(t, { settings });
  const token = await app.login('admin');
  const execute = (command: string) => app.request('POST', '/api/execute', { body: { command }, token });
  return { app, standIn, execute };
};

test('D30c with PowerShell the result is an array of objects too, and the command line is data', async (t) => {
  const message = { command: 'Get-Service' };
  const row = { Name: 'spooler', Status: 'Running' };
  const { standIn, execute } = await start(t, [message, { row }, { end: true }]);
  const command = "Get-Service '$(whoami)'";
  const { status, json } = await execute(command);
  const result = [{ ...row, SubState: null, ExitCode: null }];
  assert.deepEqual([status, json], [200, { success: true, command, result }]);
  assert.ok(standIn.readInput().includes('"=$(whoami)"'));
  assert.ok(!standIn.readArguments().some((argument) => argument.includes('whoami')));
});

test('X10a a command that fails in PowerShell is 500 with success false and its message', async (t) => {
  const { execute } = await start(t, [{ error: "Cannot find any service with service name 'x'." }]);
  const { status, json } = await execute('Get-Service x');
  assert.deepEqual([status, json], [500, { success: false, error: "Cannot find any service with service name 'x'." }]);
});

test('D24c psVersion is the version of the PowerShell that powershellPath names', async (t) => {
  const { app, standIn } = await start(t, []);
  const libraries = { 'Microsoft.PowerShell.ConsoleHost/7.4.6': {} };
  writeFileSync(join(dirname(standIn.program), 'pwsh.deps.json'), JSON.stringify({ libraries }));
  assert.equal((await app.request('GET', '/api/info')).json['psVersion'], '7.4.6');
});
