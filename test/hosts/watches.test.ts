import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { waitUntil } from '../support/wait.ts';
import { addHost, startAgent } from './support/agent.ts';
import { enrol, listenPlain, report } from './support/hosts.ts';
import { startHub } from './support/hub.ts';

interface Receipt {
  watchesId: string;
  watches?: { watch: Record<string, unknown>; isVote: boolean }[];
}

const createWatch = async (app: TestApp, token: string, body: object): Promise<number> =>
  (await app.request('POST', '/api/watches', { token, body })).status;

const listMessages = async (app: TestApp, token: string): Promise<string[]> => {
  const { json } = await app.request<{ data: { message: string }[] }>('GET', '/api/alerts/search?limit=100', { token });
  return json.data.map(({ message }) => message);
};

test('a host gets each watch for its name or tags once, and no watches of other hosts', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  await app.request('PATCH', '/api/hosts/web-1', { token, body: { tags: ['eu'] } });
  for (const [name, hosts] of [
    ['by-name', ['web-*']],
    ['by-tag', ['eu']],
    ['other', ['db-*']],
  ] as const) {
    assert.equal(await createWatch(app, token, { name, type: 'tcp', host: 'db.example', port: 1, hosts }), 201);
  }
  const first = (await report(app, key, 'web-1')).json as unknown as Receipt;
  assert.deepEqual(
    first.watches?.map(({ watch }) => watch['name']),
    ['by-name', 'by-tag'],
  );
  assert.ok(first.watches?.every(({ watch, isVote }) => watch['hosts'] === undefined && !isVote));
  const second = (await report(app, key, 'web-1', { watchesId: first.watchesId })).json as unknown as Receipt;
  assert.deepEqual([second.watchesId, second.watches], [first.watchesId, undefined]);
  await app.request('DELETE', '/api/watches/by-tag', { token });
  const third = (await report(app, key, 'web-1', { watchesId: first.watchesId })).json as unknown as Receipt;
  assert.deepEqual(
    third.watches?.map(({ watch }) => watch['name']),
    ['by-name'],
  );
});

test('a key cannot enrol a host that would get the password of a watch', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const created = await app.request('POST', '/api/keys', { token, body: { name: 'ops', scopes: ['hosts:create'] } });
  const ops = created.json['key'] as string;
  await enrol(app, ops, 'web-1');
  const login = { type: 'redis', host: 'db.example', password: 'correct horse' };
  for (const watch of [
    { ...login, name: 'by-name', hosts: ['web-*'] },
    { ...login, name: 'by-tag', hosts: ['eu'], enabled: false },
    { ...login, name: 'vote', from: ['hub', 'db-1'] },
    { ...login, name: 'open', password: undefined, hosts: ['*'] },
    { ...login, name: 'own' },
  ])
    assert.equal(await createWatch(app, token, watch), 201);
  const invite = (body: object, by: string) => app.request('POST', '/api/hosts', { token: by, body });
  for (const body of [{ name: 'web-1' }, { name: 'web-2' }, { name: 'db-1' }, { name: 'a', tags: ['eu'] }]) {
    const { status, json } = await invite(body, ops);
    assert.equal(status, 403, body.name);
    assert.equal(
      json['error'],
      `${body.name} would get watches with a password or private key: only an administrator can create its code`,
    );
  }
  assert.equal((await app.request('GET', '/api/hosts/web-2', { token })).status, 404);
  assert.equal((await invite({ name: 'db-2', tags: ['us'] }, ops)).status, 201);
  await enrol(app, ops, 'db-2');
  assert.equal((await invite({ name: 'web-2' }, token)).status, 201);
});

test('a watch with votes fires when that many places see a failure, and lists the places that do and do not see it', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const keys = { 'web-1': await enrol(app, token, 'web-1'), 'web-2': await enrol(app, token, 'web-2') };
  const server = createServer((_request, response) => response.end('ok'));
  const url = await listenPlain(t, server);
  const watch = { name: 'shop', type: 'http', url, every: 1, from: ['hub', 'web-1', 'web-2'], votes: 2 };
  assert.equal(await createWatch(app, token, watch), 201);
  const pushed = (await report(app, keys['web-1'], 'web-1')).json as unknown as Receipt;
  assert.deepEqual(
    pushed.watches?.map(({ isVote }) => isVote),
    [true],
  );
  const vote = (name: 'web-1' | 'web-2', state: 'good' | 'bad') =>
    report(app, keys[name], name, { checks: [{ watch: 'shop', thing: url, state, text: `${url} does not answer` }] });
  await vote('web-1', 'bad');
  await vote('web-2', 'good');
  await new Promise((resolve) => setTimeout(resolve, 2500));
  assert.deepEqual(await listMessages(app, token), []);
  server.close();
  server.closeAllConnections();
  await waitUntil('two of three places see it fail', async () =>
    (await listMessages(app, token)).some((text) => text.endsWith('(from 2 of 3 places: hub, web-1; web-2 succeeds)')),
  );
  await vote('web-1', 'good');
  await waitUntil('the alert is resolved', async () => (await listMessages(app, token)).length === 2);
});

test('zero votes, more votes than places, and places for watches of the machine are refused', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const shop = { name: 'shop', type: 'http', url: 'https://shop.example' };
  for (const body of [
    { ...shop, from: ['hub', 'web-1'], votes: 0 },
    { ...shop, from: ['hub', 'web-1'], votes: 3 },
    { ...shop, votes: 1 },
    { ...shop, from: [] },
    { ...shop, from: ['hub'], hosts: ['web-*'] },
    { name: 'disk-1', type: 'disk', from: ['hub', 'web-1'] },
    { name: 'file-1', type: 'file', path: '/etc/passwd', hosts: ['web-*'] },
  ]) {
    assert.equal(await createWatch(app, token, body), 400, JSON.stringify(body));
  }
});

test('a watch is refused if all watches for hosts would exceed 7 MiB with it', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const mounts = Array.from({ length: 60 }, () => `/${'€'.repeat(990)}`);
  const create = (name: string, more: object) =>
    app.request('POST', '/api/watches', { token, body: { name, type: 'disk', limit: 0.9, mounts, ...more } });
  const statuses: number[] = [];
  for (let index = 0; index < 41; index += 1)
    statuses.push((await create(`disk-${index}`, { hosts: ['web-*'] })).status);
  assert.deepEqual(new Set(statuses), new Set([201]));
  const refused = await create('disk-41', { hosts: ['web-*'] });
  assert.equal(refused.status, 400);
  assert.match(refused.json['error'] as string, /^All watches that set hosts or from must not exceed 7 MiB in total/);
  assert.equal((await create('own', {})).status, 201);
});

test('an agent checks the watches of its hub also after a restart without the hub, and the alert arrives later', {
  timeout: 120_000,
}, async (t) => {
  const dataDir = createFolder(t);
  const { hub, token } = await startHub(t, { dataDir });
  const server = createServer((_request, response) => response.end('ok'));
  const { port } = new URL(await listenPlain(t, server));
  const watch = { name: 'shop', type: 'tcp', host: '127.0.0.1', port: Number(port), every: 1, hosts: ['web-*'] };
  assert.equal((await hub.request('POST', '/api/watches', { token, body: watch })).status, 201);
  const words = await addHost(hub, token, 'web-1');
  const agent = await startAgent(t, words);
  const received = join(agent.dataDir, 'hub.watches');
  await waitUntil('the agent has the watch', () => existsSync(received), 30_000);
  await hub.stop('SIGKILL');
  await agent.stop('SIGKILL');
  await startAgent(t, words.slice(0, 3), { dataDir: agent.dataDir });
  server.close();
  server.closeAllConnections();
  const list = () => readFileSync(join(agent.dataDir, 'alerts.jsonl'), 'utf8');
  await waitUntil('the agent has the alert', () => list().includes('"watch/shop"'), 30_000);
  const { hub: again, token: next } = await startHub(t, { dataDir, port: new URL(hub.url).port });
  await waitUntil(
    'the hub has the alert',
    async () => (await again.request('GET', '/api/alerts/search', { token: next })).text.includes('"watch/shop"'),
    60_000,
  );
});

test('an agent refuses watches of its hub that run programs or read files', async (t) => {
  const folder = createFolder(t);
  const watches = [
    { watch: { name: 'evil', type: 'plugin', command: ['/usr/bin/touch', join(folder, 'made')], every: 1 } },
    { watch: { name: 'curious', type: 'file', path: '/etc/shadow' } },
    { watch: { name: 'newer', type: 'unheard-of' } },
    { watch: { name: 'fine', type: 'tcp', host: '127.0.0.1', port: 1 } },
  ];
  const hub = await listenPlain(
    t,
    createServer((request, response) => {
      request.resume();
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ received: true, name: 'web-1', watchesId: 'a', watches }));
    }),
  );
  const agent = await startAgent(t, ['agent', '--hub', hub], { variables: { SIGNALBOX_HUB_KEY: 'sbk_of_a_test' } });
  await waitUntil('the agent has refused three', () => agent.output.stderr.split('cannot be used').length === 4);
  for (const name of ['evil', 'curious', 'newer']) assert.ok(agent.output.stderr.includes(`"watch":"${name}"`), name);
  assert.ok(!existsSync(join(folder, 'made')));
});
