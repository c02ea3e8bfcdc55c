import assert from 'node:assert/strict';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { passwords, secret, startApp, type TestApp } from '../support/app.ts';

type Line = Record<string, unknown>;
interface Executions {
  count: number;
  data: Line[];
}

const fileOf = ({ folder }: TestApp): string => join(folder, 'data', 'commands.jsonl');

const readAudit = async (app: TestApp): Promise<Line[]> =>
  (await readFile(fileOf(app), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('every executed or refused command is one line of the audit, on disk before the response is sent', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const execute = (command: string) => app.request('POST', '/api/execute', { body: { command }, token });
  assert.equal((await execute(`Get-Process -Id ${process.pid}`)).status, 200);
  const [ran] = await readAudit(app);
  const { time, requestId, durationMs, id, crc, ...rest } = ran ?? {};
  assert.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 60_000);
  assert.match(`${requestId} ${id} ${crc}`, /^\S+ \S{36} [0-9a-f]{8}$/);
  assert.ok(Number.isInteger(durationMs));
  assert.deepEqual(rest, {
    user: 'admin',
    role: 'Admin',
    remoteAddress: '127.0.0.1',
    command: 'Get-Process',
    parameters: { Id: [process.pid] },
    decision: 'allowed',
    reason: null,
    exit: 'ok',
    rows: 1,
    truncated: false,
    seq: 1,
  });
  assert.equal((await execute('Get-Process; rm -rf /')).status, 403);
  assert.equal((await execute('Get-Process -Name no-such-process')).status, 500);
  const outcomes = (await readAudit(app)).map(({ decision, exit, reason }) => [decision, exit, reason]);
  assert.deepEqual(outcomes.slice(1), [
    [
      'refused',
      null,
      'Command "Get-Process;" is not allowed; allowed are Get-Process, Get-Service, Get-EventLog, Get-CimInstance',
    ],
    [
      'allowed',
      'failed',
      'Cannot find a process with the name "no-such-process". Verify the process name and call the cmdlet again.',
    ],
  ]);
});

test("GET /api/executions lists the last executions, oldest first, without the journal's own fields", async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  for (const command of ['Get-Process -Id 1', 'ls', 'Get-Process -Verbose']) {
    await app.request('POST', '/api/execute', { body: { command }, token });
  }
  const list = async (query: string) =>
    (await app.request<Executions>('GET', `/api/executions${query}`, { token })).json;
  const { count, data } = await list('');
  assert.equal(count, 3);
  assert.deepEqual(
    data.map(({ command }) => command),
    ['Get-Process', 'ls', 'Get-Process'],
  );
  const fields =
    'time requestId user role remoteAddress command parameters decision reason exit durationMs rows truncated';
  assert.deepEqual(Object.keys(data[0] ?? {}), fields.split(' '));
  assert.deepEqual((await list('?count=1')).data, data.slice(2));
  assert.deepEqual(await list('?count=0'), { count: 0, data: [] });
  for (const query of ['?count=-1', '?count=10001', '?count=x', '?count=1&count=2']) {
    const { status, json } = await app.request('GET', `/api/executions${query}`, { token });
    assert.deepEqual([status, Object.keys(json)], [400, ['error']], query);
  }
});

test('no command runs while the audit cannot be written, and commands run again once it can', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const execute = () => app.request('POST', '/api/execute', { body: { command: 'Get-Process -Id 1' }, token });
  assert.equal((await execute()).status, 200);
  await rename(fileOf(app), `${fileOf(app)}.away`);
  await mkdir(fileOf(app));
  for (let n = 0; n < 2; n += 1) {
    const { status, headers, json } = await execute();
    assert.deepEqual([status, headers['retry-after']], [503, '1']);
    assert.match(String(json['error']), /^Commands cannot run while the audit cannot be written: /);
  }
  await rm(fileOf(app), { recursive: true });
  for (const deadline = Date.now() + 30_000; (await execute()).status !== 200; ) assert.ok(Date.now() < deadline);
  assert.equal((await readAudit(app)).at(-1)?.['exit'], 'ok');
});

test('the audit contains no token, no password and no refused line', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const command = `Get-Process -Password ${passwords.admin}`;
  assert.equal((await app.request('POST', '/api/execute', { body: { command }, token })).status, 403);
  const text = await readFile(fileOf(app), 'utf8');
  for (const hidden of [token, secret, passwords.admin]) assert.ok(!text.includes(hidden));
  assert.match(text, /Parameter \\"-Password\\" is not allowed/);
});
