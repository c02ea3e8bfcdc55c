import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';

interface Result {
  success: boolean;
  command: string;
  result: Record<string, unknown>[];
  error: string;
}

const start = async (
  t: TestContext,
): Promise<{ app: TestApp; execute: (command: unknown) => Promise<{ status: number; json: Result }> }> => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const execute = (command: unknown) => app.request<Result>('POST', '/api/execute', { body: { command }, token });
  return { app, execute };
};

test('POST /api/execute returns success, the command and its result', async (t) => {
  const { execute } = await start(t);
  const command = `Get-Process -Id ${process.pid}`;
  const { status, json } = await execute(command);
  assert.deepEqual([status, Object.keys(json)], [200, ['success', 'command', 'result']]);
  assert.deepEqual([json.success, json.command, json.result[0]?.['Id']], [true, command, process.pid]);
});

test('a command line whose first token is not one of the four commands gets 403', async (t) => {
  const { execute } = await start(t);
  for (const command of [
    'Get-Item x',
    'ls',
    'Get-ProcessX',
    'get-process',
    'Invoke-Expression Get-Process',
    '& Get-Process',
  ]) {
    const { status, json } = await execute(command);
    assert.deepEqual([status, Object.keys(json)], [403, ['error']], command);
  }
  for (const command of [
    'Get-Process',
    'Get-Service',
    'Get-EventLog -LogName System',
    'Get-CimInstance Win32_Processor',
  ]) {
    assert.notEqual((await execute(command)).status, 403, command);
  }
});

test('a body without a command, or with a command that is not a string, gets 400', async (t) => {
  const { app, execute } = await start(t);
  const token = await app.login('admin');
  assert.equal((await app.request('POST', '/api/execute', { token })).status, 400);
  for (const command of [undefined, null, '', '  ', 1, true, ['Get-Process'], { name: 'Get-Process' }]) {
    const { status, json } = await execute(command);
    assert.deepEqual([status, Object.keys(json)], [400, ['error']], JSON.stringify(command));
  }
});

test('a failed command gets 500 with success false and the error', async (t) => {
  const { execute } = await start(t);
  const { status, json } = await execute('Get-Process -Name no-such-process');
  assert.deepEqual([status, Object.keys(json), json.success], [500, ['success', 'error'], false]);
  assert.match(json.error, /no-such-process/);
});

test('a command needs a token with role Admin: none or an invalid one gets 401, another role 403', async (t) => {
  const { request, login } = await startApp(t);
  const body = { command: 'Get-Process' };
  assert.equal((await request('POST', '/api/execute', { body })).status, 401);
  assert.equal((await request('POST', '/api/execute', { body, token: 'a.b.c' })).status, 401);
  const token = await login('reader');
  assert.equal((await request('POST', '/api/execute', { body, token })).status, 403);
});

test('executeAuth none opens /api/execute, and the start message says so', async (t) => {
  const app = await startApp(t, { settings: { executeAuth: 'none' } });
  const { status } = await app.request('POST', '/api/execute', { body: { command: 'Get-Process' } });
  assert.equal(status, 200);
  assert.equal(
    app.notices.some((notice) => /executeAuth|without a token/.test(notice)),
    true,
  );
});

test('the command line is data: other syntax gets 403 with an error that names it', async (t) => {
  const { execute } = await start(t);
  for (const [command, named] of [
    ['Get-Process; Get-Service', /;/],
    ['Get-Process | Stop-Process', /\|/],
    ['Get-Process $(id)', /\$/],
    ['Get-Process -Name "$env:PATH"', /\$/],
    ['Get-Process `n', /`/],
    ['Get-Process > /tmp/x', />/],
    ['Get-Process @args', /@/],
    ['Get-Process {1}', /\{/],
    ['Get-Process\nGet-Service', /U\+000A/],
  ] as const) {
    const { status, json } = await execute(command);
    assert.equal(status, 403, command);
    assert.match(json.error, named, command);
  }
});

test('a parameter that the command does not have, is shortened or is given twice gets 403, which names it', async (t) => {
  const { execute } = await start(t);
  for (const [command, named] of [
    ['Get-Process -ComputerName other', /ComputerName/],
    ['Get-Process -Module', /Module/],
    ['Get-Process -Na node', /Na/],
    ['Get-Process -Id 1 -Id 2', /Id/],
    ['Get-Process -Id -1', /Id|-1/],
    ['Get-Service -ErrorAction Stop', /ErrorAction/],
    ['Get-EventLog -LogName Security', /Security/],
    ['Get-CimInstance Win32_Product', /Win32_Product/],
    ['Get-CimInstance -Query "select * from Win32_Process"', /Query/],
  ] as const) {
    const { status, json } = await execute(command);
    assert.equal(status, 403, command);
    assert.match(json.error, named, command);
  }
});

test('the result is always an array of objects', async (t) => {
  const { execute } = await start(t);
  for (const command of [`Get-Process -Id ${process.pid}`, 'Get-Process', 'Get-CimInstance Win32_OperatingSystem']) {
    const { json } = await execute(command);
    assert.ok(Array.isArray(json.result) && json.result.length > 0, command);
    for (const row of json.result) assert.equal(typeof row, 'object');
  }
});
