import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { writeConfig } from '../support/config-file.ts';
import { createFolder } from '../support/folder.ts';
import { waitUntil } from '../support/wait.ts';
import { addHost, startAgent } from './support/agent.ts';
import { enrol, readHost, report } from './support/hosts.ts';
import { startHub } from './support/hub.ts';

const command = { command: 'Get-Process -Id 1' };

test('an administrator runs a command on a host that allows it, and both machines audit it', async (t) => {
  const { hub, token } = await startHub(t);
  const words = await addHost(hub, token, 'web-1');
  const dataDir = createFolder(t);
  const config = writeConfig(dataDir, { allowCommands: true });
  await startAgent(t, [...words, '--config', config], { dataDir });
  await waitUntil('the host reports', async () => (await readHost(hub, token, 'web-1')).allowsCommands);
  const { status, json } = await hub.request<{ result: { Id: number }[] }>('POST', '/api/hosts/web-1/execute', {
    token,
    body: command,
  });
  assert.deepEqual([status, json.result?.[0]?.Id], [200, 1], JSON.stringify(json));
  const audit = await hub.request<{ data: { requestId: string; user: string }[] }>('GET', '/api/executions', { token });
  const [{ requestId = '', user = '' } = {}] = audit.json.data;
  assert.match(requestId, /@web-1$/);
  assert.equal(user, 'admin');
  assert.ok(readFileSync(join(dataDir, 'commands.jsonl'), 'utf8').includes(requestId));
  const refused = await hub.request('POST', '/api/hosts/web-1/execute', { token, body: { command: 'rm -rf /' } });
  assert.equal(refused.status, 403);
});

test('a command is refused for a Reader, for an unknown host, and for a host that allows no commands', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  const run = async (name: string, caller: string) =>
    (await app.request('POST', `/api/hosts/${name}/execute`, { token: caller, body: command })).status;
  assert.equal(await run('web-1', token), 409);
  await report(app, key, 'web-1');
  assert.equal(await run('web-1', token), 409);
  assert.equal(await run('web-2', token), 404);
  assert.equal(await run('web-1', await app.login('reader')), 403);
  assert.equal(await run('web-1', key), 403);
});

test('a host gets a command once, and a result that no caller awaits is refused', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  await report(app, key, 'web-1', { allowsCommands: true });
  const running = app.request<{ result: object[] }>('POST', '/api/hosts/web-1/execute', { token, body: command });
  let sent: { id: string; line: string }[] = [];
  await waitUntil('the host gets the command', async () => {
    const { json } = await report(app, key, 'web-1', { allowsCommands: true });
    sent = (json['commands'] as typeof sent | undefined) ?? [];
    return sent.length > 0;
  });
  assert.deepEqual(
    sent.map(({ line }) => line),
    ['Get-Process -Id 1'],
  );
  assert.equal((await report(app, key, 'web-1', { allowsCommands: true })).json['commands'], undefined);
  const send = async (id: string) =>
    (await app.request('POST', '/api/hosts/web-1/results', { token: key, body: { id, rows: [{ Id: 1 }] } })).status;
  assert.equal(await send('other'), 404);
  assert.equal(await send(sent[0]?.id ?? ''), 200);
  assert.deepEqual((await running).json.result, [{ Id: 1 }]);
});

test('a command ends at the hub when its client disconnects', async (t) => {
  const { hub, token } = await startHub(t);
  const key = await enrol(hub, token, 'web-1');
  await report(hub, key, 'web-1', { allowsCommands: true });
  const client = new AbortController();
  const running = fetch(`${hub.url}/api/hosts/web-1/execute`, {
    method: 'POST',
    signal: client.signal,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(command),
  }).catch((error: Error) => error.name);
  let sent: { id: string }[] = [];
  await waitUntil('the host gets the command', async () => {
    const { json } = await report(hub, key, 'web-1', { allowsCommands: true });
    sent = (json['commands'] as typeof sent | undefined) ?? [];
    return sent.length > 0;
  });
  client.abort();
  assert.equal(await running, 'AbortError');
  await waitUntil('the audit has the command', async () => {
    const { json } = await hub.request<{ data: { exit: string }[] }>('GET', '/api/executions', { token });
    return json.data.some(({ exit }) => exit === 'abandoned');
  });
  const body = { id: sent[0]?.id, rows: [] };
  assert.equal((await hub.request('POST', '/api/hosts/web-1/results', { token: key, body })).status, 404);
});

test('a host that floods the hub with results of unknown commands gets 429', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  const send = async () =>
    (await app.request('POST', '/api/hosts/self/results', { token: key, body: { id: 'other', rows: [] } })).status;
  const statuses = await Promise.all(Array.from({ length: 70 }, send));
  assert.deepEqual([...new Set(statuses)].toSorted(), [404, 429]);
});
