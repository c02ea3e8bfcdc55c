import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { startApp, type TestApp } from '../support/app.ts';
import { writeConfig } from '../support/config-file.ts';
import { createFolder } from '../support/folder.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { startTcpProxy } from '../support/postgres/proxy.ts';
import { runSql, startPostgres } from '../support/postgres/server.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { waitUntil } from '../support/wait.ts';
import { addHost, startAgent } from './support/agent.ts';
import { enrol, readHost, report } from './support/hosts.ts';
import { startHub } from './support/hub.ts';

test('instances that share a database all accept reports and show the same hosts', {
  skip: toSkipPostgres(),
}, async (t) => {
  const settings = { store: await createDatabase(t), timeZone: 'UTC' };
  const [one, other] = [await startApp(t, { settings }), await startApp(t, { settings })];
  const token = await one.login('admin');
  const key = await enrol(one, token, 'web-1');
  await waitUntil('the other instance knows the key', async () => (await report(other, key, 'web-1')).status === 200);
  const readings = { cpu: 0.25 };
  assert.equal((await report(one, key, 'web-1', { readings })).status, 200);
  for (const app of [one, other]) assert.equal((await readHost(app, token, 'web-1')).readings?.cpu, 0.25);
  const query = `/api/hosts/web-1/history?step=10`;
  const [first, second] = await Promise.all(
    [one, other].map(({ request }) => request<{ cpu: (number | null)[] }>('GET', query, { token })),
  );
  assert.ok(first?.json.cpu.includes(0.25));
  assert.deepEqual(first?.json.cpu, second?.json.cpu);
  await one.close();
  assert.equal((await report(other, key, 'web-1', { readings: { cpu: 0.75 } })).status, 200);
  assert.equal((await readHost(other, token, 'web-1')).readings?.cpu, 0.75);
  assert.equal((await other.request('DELETE', '/api/hosts/web-1', { token })).status, 200);
  assert.equal((await report(other, key, 'web-1')).status, 401);
});

const command = { command: 'Get-Process -Id 1' };

/** Waits until an instance knows that the host `web-1` allows commands. */
const awaitAllowed = (app: TestApp, token: string): Promise<void> =>
  waitUntil('the instance shows the host', async () => {
    const { json } = await app.request('GET', '/api/hosts/web-1', { token });
    return json['allowsCommands'] === true;
  });

test('an agent runs a command that another instance received, and every instance and the host audit it', {
  skip: toSkipPostgres(),
  timeout: 120_000,
}, async (t) => {
  const args = ['--config', writeConfig(createFolder(t), { store: await createDatabase(t), timeZone: 'UTC' })];
  const [{ hub, token }, { hub: other }] = [await startHub(t, { args }), await startHub(t, { args })];
  const dataDir = createFolder(t);
  const config = writeConfig(dataDir, { allowCommands: true });
  await startAgent(t, [...(await addHost(hub, token, 'web-1')), '--config', config], { dataDir });
  await waitUntil('the other instance shows the host', async () => {
    const { json } = await other.request<{ allowsCommands: boolean }>('GET', '/api/hosts/web-1', { token });
    return json.allowsCommands === true;
  });
  const { status, json } = await other.request<{ result: { Id: number }[] }>('POST', '/api/hosts/web-1/execute', {
    token,
    body: command,
  });
  assert.deepEqual([status, json.result?.[0]?.Id], [200, 1], JSON.stringify(json));
  const ids: string[] = [];
  for (const { request } of [hub, other]) {
    const { json } = await request<{ data: { requestId: string }[] }>('GET', '/api/executions', { token });
    ids.push(...json.data.map(({ requestId }) => requestId));
  }
  const [requestId = ''] = ids;
  assert.deepEqual(ids, [requestId, requestId]);
  assert.match(requestId, /@web-1$/);
  assert.ok(readFileSync(join(dataDir, 'commands.jsonl'), 'utf8').includes(requestId));
});

test('a command is sent to its host once, and any instance accepts the result once', {
  skip: toSkipPostgres(),
}, async (t) => {
  const settings = { store: await createDatabase(t), timeZone: 'UTC' };
  const [one, other] = [await startApp(t, { settings }), await startApp(t, { settings })];
  const token = await one.login('admin');
  const key = await enrol(one, token, 'web-1');
  await report(one, key, 'web-1', { allowsCommands: true });
  await awaitAllowed(other, token);
  const running = other.request<{ result: object[] }>('POST', '/api/hosts/web-1/execute', { token, body: command });
  const sent: { id: string; line: string }[] = [];
  const receive = async (app: TestApp): Promise<void> => {
    const { json } = await report(app, key, 'web-1', { allowsCommands: true });
    sent.push(...((json['commands'] as typeof sent | undefined) ?? []));
  };
  await waitUntil('the host gets the command', async () => {
    // A host that reports more often is refused.
    await setTimeout(200);
    await receive(one);
    return sent.length > 0;
  });
  await receive(other);
  assert.deepEqual(
    sent.map(({ line }) => line),
    [command.command],
  );
  const body = { id: sent[0]?.id, rows: [{ Id: 1 }] };
  const send = async (app: TestApp) =>
    (await app.request('POST', '/api/hosts/web-1/results', { token: key, body })).status;
  assert.deepEqual([await send(other), await send(one)], [200, 404]);
  assert.deepEqual((await running).json.result, [{ Id: 1 }]);
});

test('a host gets a command although the connection to the database ends before the hub has the command', {
  skip: toSkipPostgres(),
}, async (t) => {
  const server = await startPostgres(t);
  const proxy = await startTcpProxy(t, server.port);
  const store = new URL(server.url());
  store.port = String(proxy.port);
  const app = await startApp(t, { settings: { store: store.href, timeZone: 'UTC' } });
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  await report(app, key, 'web-1', { allowsCommands: true });
  const cut = proxy.cutBeforeAnswer(Buffer.from(command.command));
  const running = app.request<{ result: object[] }>('POST', '/api/hosts/web-1/execute', { token, body: command });
  const sent: { id: string }[] = [];
  let isCut = false;
  void cut.then(() => {
    isCut = true;
  });
  await waitUntil('the host gets the command', async () => {
    await setTimeout(200);
    const { json } = await report(app, key, 'web-1', { allowsCommands: true });
    sent.push(...((json['commands'] as typeof sent | undefined) ?? []));
    return sent.length > 0;
  });
  assert.ok(isCut);
  const body = { id: sent[0]?.id, rows: [{ Id: 1 }] };
  assert.equal((await app.request('POST', '/api/hosts/web-1/results', { token: key, body })).status, 200);
  assert.deepEqual((await running).json.result, [{ Id: 1 }]);
  assert.equal(sent.length, 1);
});

test('at most 16 commands wait for a host at all instances together, and an instance that stops ends its own', {
  skip: toSkipPostgres(),
}, async (t) => {
  const store = await createDatabase(t);
  const settings = { store, timeZone: 'UTC' };
  const [one, other] = [await startApp(t, { settings }), await startApp(t, { settings })];
  const token = await one.login('admin');
  await report(one, await enrol(one, token, 'web-1'), 'web-1', { allowsCommands: true });
  await awaitAllowed(other, token);
  const run = ({ request }: TestApp) => request('POST', '/api/hosts/web-1/execute', { token, body: command });
  const countRows = async (): Promise<number> => {
    const [row] = await runSql<{ count: string }>(store, 'SELECT count(*) AS count FROM signalbox.host_command');
    return Number(row?.count);
  };
  const waiting = Array.from({ length: 16 }, (_, index) => run(index < 10 ? one : other).catch(() => undefined));
  await waitUntil('all commands are waiting', async () => (await countRows()) === 16);
  const refused = await run(other);
  assert.equal(refused.status, 503);
  assert.match(refused.text, /Too many commands are waiting for web-1/);
  await one.close();
  await waitUntil('the commands of the other instance remain', async () => (await countRows()) === 6);
  await other.close();
  await Promise.all(waiting);
});

test('a code used at one instance is refused at every other instance', { skip: toSkipPostgres() }, async (t) => {
  const settings = { store: await createDatabase(t), timeZone: 'UTC' };
  const [one, other] = [await startApp(t, { settings }), await startApp(t, { settings })];
  const token = await one.login('admin');
  const { json } = await one.request('POST', '/api/hosts', { token, body: { name: 'web-1' } });
  const body = { code: json['code'] };
  const both = await Promise.all([one, other].map(({ request }) => request('POST', '/api/hosts/enrol', { body })));
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [201, 403]);
});

test('a database accepts a minute sent twice, and refuses a report that is too large', {
  skip: toSkipPostgres(),
}, async (t) => {
  const app = await startApp(t, { settings: { store: await createDatabase(t), timeZone: 'UTC' } });
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  const time = new Date(Date.now() - 600_000).toISOString();
  const kept = [0.25, 0.75].map((cpu) => ({ time, readings: { cpu } }));
  assert.equal((await report(app, key, 'web-1', { kept })).status, 200);
  const check = { watch: 'shop', thing: 'shop', state: 'bad' as const, text: 'x'.repeat(1900) };
  const { status } = await report(app, key, 'web-1', { checks: Array.from({ length: 100 }, () => check) });
  assert.equal(status, 413);
});

test('a host that one instance deletes and recreates is new to every instance', {
  skip: toSkipPostgres(),
}, async (t) => {
  const settings = { store: await createDatabase(t), timeZone: 'UTC' };
  const [one, other] = [await startApp(t, { settings }), await startApp(t, { settings })];
  const token = await one.login('admin');
  await report(one, await enrol(one, token, 'web-1'), 'web-1');
  await waitUntil('the other instance shows the host', async () => {
    const { status, json } = await other.request('GET', '/api/hosts/web-1', { token });
    return status === 200 && json['state'] === 'up';
  });
  assert.equal((await one.request('DELETE', '/api/hosts/web-1', { token })).status, 200);
  await waitUntil('the other instance has dropped the host', async () => {
    await other.request('GET', '/api/hosts', { token });
    return (await other.request('GET', '/api/hosts/web-1', { token })).status === 404;
  });
  await other.request('GET', '/api/hosts', { token });
  await enrol(one, token, 'web-1');
  await waitUntil('the other instance shows the new host', async () => {
    const { status, json } = await other.request('GET', '/api/hosts/web-1', { token });
    return status === 200 && json['state'] === 'new';
  });
});
