import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { waitUntil } from '../support/wait.ts';
import { enrol, readHost, report } from './support/hosts.ts';

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

test('an instance refuses a command for a host that reports to another instance, and names the reason', {
  skip: toSkipPostgres(),
}, async (t) => {
  const settings = { store: await createDatabase(t), timeZone: 'UTC' };
  const [one, other] = [await startApp(t, { settings }), await startApp(t, { settings })];
  const token = await one.login('admin');
  await report(one, await enrol(one, token, 'web-1'), 'web-1', { allowsCommands: true });
  await waitUntil('the other instance shows the host', async () => {
    const { json } = await other.request('GET', '/api/hosts/web-1', { token });
    return json['allowsCommands'] === true;
  });
  const body = { command: 'Get-Process -Id 1' };
  const { status, text } = await other.request('POST', '/api/hosts/web-1/execute', { token, body });
  assert.equal(status, 409);
  assert.match(text, /web-1 reports to another instance of this server: send the command to that instance/);
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
