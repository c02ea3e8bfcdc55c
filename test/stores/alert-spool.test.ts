import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { readAlertTable, sendInTime, waitForStored } from '../support/alert-table.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { startPostgres } from '../support/postgres/server.ts';
import { startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait.ts';

const skip = toSkipPostgres();

const start = (t: TestContext, store: string, settings: Record<string, unknown> = {}): Promise<TestApp> =>
  startApp(t, { settings: { store, timeZone: 'UTC', ...settings }, patience: { changesMs: 2000, readsMs: 1000 } });

const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);

test('without the database, alerts are accepted, and stored in order when the database is back', {
  skip,
}, async (t) => {
  const server = await startPostgres(t);
  const [app, other] = [await start(t, server.url()), await start(t, server.url())];
  const ids = [await sendInTime(app, '0')];
  assert.deepEqual((await app.request('GET', '/ready')).json, { status: 'ready' });
  await server.stop('SIGKILL');
  for (const message of numbers(40).slice(1)) ids.push(await sendInTime(app, message));
  for (const path of ['/api/alerts', '/api/alerts/search', `/api/alerts/${ids[0]}`, '/api/alerts/histogram']) {
    const { status, headers } = await app.request('GET', path);
    assert.deepEqual([status, headers['retry-after']], [503, '1'], path);
  }
  for (const path of ['/ready', '/readyz']) {
    const { status, json } = await app.request<{ unavailable: string[] }>('GET', path);
    assert.deepEqual([status, json.unavailable[0]], [200, 'database']);
  }
  await server.restart();
  await waitForStored(server, 40);
  const late = await sendInTime(app, '40');
  assert.deepEqual(
    await readAlertTable(server),
    [...ids, late].map((id, index) => ({ id, message: `${index}` })),
  );
  await waitUntil('the other instance lists the alerts', async () => {
    const { json } = await other.request<{ count: number }>('GET', '/api/alerts?count=100');
    return json.count === 41;
  });
  await waitUntil(
    'the server is ready',
    async () => (await app.request('GET', '/ready')).text === '{"status":"ready"}',
  );
});

test('an alert whose commit takes more than a second is stored once', { skip }, async (t) => {
  const server = await startPostgres(t);
  const app = await start(t, server.url());
  const ids = [await sendInTime(app, '0')];
  server.pause();
  for (const message of ['1', '2']) ids.push(await sendInTime(app, message));
  server.resume();
  await waitForStored(server, 3);
  ids.push(await sendInTime(app, '3'));
  await waitForStored(server, 4);
  assert.deepEqual(
    (await readAlertTable(server)).map(({ id }) => id),
    ids,
  );
});

test('alerts go to the database again while clients keep sending', { skip }, async (t) => {
  const server = await startPostgres(t);
  const app = await start(t, server.url());
  await server.stop('SIGKILL');
  const sent: string[][] = [];
  let isOver = false;
  const clients = Array.from({ length: 16 }, async (_, client) => {
    const own: string[] = [];
    sent.push(own);
    for (let index = 0; !isOver; index += 1) own.push(await sendInTime(app, `${client} ${index}`));
  });
  await waitUntil('many are waiting', () => sent.flat().length > 1000);
  await server.restart();
  await waitUntil('no alert waits any more', async () => {
    const { text } = await app.request('GET', '/metrics');
    return /^signalbox_alerts_spooled 0$/m.test(text);
  });
  await waitForStored(server, 1000);
  isOver = true;
  await Promise.all(clients);
  await waitForStored(server, sent.flat().length);
  const stored = await readAlertTable(server);
  assert.equal(stored.length, sent.flat().length);
  // Each client's alerts are in the order of its requests.
  for (const [client, ids] of sent.entries()) {
    const own = stored.filter(({ message }) => message.startsWith(`${client} `));
    assert.deepEqual(
      own.map(({ id }) => id),
      ids,
    );
  }
});

test('repeated alerts and requests with an Idempotency-Key in the spool are stored once', {
  skip,
}, async (t) => {
  const server = await startPostgres(t);
  const apps = [await start(t, server.url()), await start(t, server.url())] as const;
  const id = await sendInTime(apps[0], 'a', { 'idempotency-key': 'a' });
  await server.stop('SIGKILL');
  for (const app of apps) {
    await sendInTime(app, 'a', { 'idempotency-key': 'a' });
    await sendInTime(app, 'b', { 'idempotency-key': 'b' });
  }
  await sendInTime(apps[0], 'c');
  await server.restart();
  await waitForStored(server, 3);
  assert.equal(await waitForKey(apps[1], 'a'), id);
  const messages = (await readAlertTable(server)).map(({ message }) => message);
  assert.deepEqual(messages.toSorted(), ['a', 'b', 'c']);
});

test('a request with an Idempotency-Key gets the id of the first request while the database is unavailable, too', {
  skip,
}, async (t) => {
  const server = await startPostgres(t);
  const app = await start(t, server.url());
  const stored = await sendInTime(app, 'a', { 'idempotency-key': 'a' });
  await server.stop('SIGKILL');
  assert.equal(await sendInTime(app, 'a', { 'idempotency-key': 'a' }), stored);
  const same = await Promise.all([1, 2, 3].map(() => sendInTime(app, 'b', { 'idempotency-key': 'b' })));
  const [waiting = ''] = same;
  assert.deepEqual([...new Set([...same, await sendInTime(app, 'b', { 'idempotency-key': 'b' })])], [waiting]);
  const other = { body: { message: 'c' }, headers: { 'idempotency-key': 'b' } };
  assert.equal((await app.request('POST', '/api/alert', other)).status, 422);
  await server.restart();
  await waitForStored(server, 2);
  assert.equal(await waitForKey(app, 'b'), waiting);
  for (const id of [stored, waiting]) assert.equal((await app.request('GET', `/api/alerts/${id}`)).status, 200);
  assert.equal((await readAlertTable(server)).length, 2);
});

/** Resolves to the id for a request with the key once the spool is empty. */
const waitForKey = async (app: TestApp, key: string): Promise<string> => {
  await waitUntil('nothing waits', async () =>
    /^signalbox_alerts_spooled 0$/m.test((await app.request('GET', '/metrics')).text),
  );
  return sendInTime(app, key, { 'idempotency-key': key });
};

test('without the spool, alerts get 503 while the database is unavailable', { skip }, async (t) => {
  const server = await startPostgres(t);
  const app = await start(t, server.url(), { spool: false });
  await sendInTime(app, '0');
  await server.stop('SIGKILL');
  const { status, headers } = await app.request('POST', '/api/alert', { body: { message: '1' } });
  assert.deepEqual([status, headers['retry-after']], [503, '1']);
  assert.equal((await app.request('GET', '/ready')).status, 503);
  await server.restart();
  await waitUntil('the server is ready', async () => (await app.request('GET', '/ready')).status === 200);
  await sendInTime(app, '2');
  assert.deepEqual(
    (await readAlertTable(server)).map(({ message }) => message),
    ['0', '2'],
  );
});

test('no command runs while the audit is not available', { skip }, async (t) => {
  const server = await startPostgres(t);
  const app = await start(t, server.url());
  const token = await app.login('admin');
  const run = () => app.request('POST', '/api/execute', { body: { command: 'Get-Process -Name node*' }, token });
  assert.equal((await run()).status, 200);
  await server.stop('SIGKILL');
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const { status, headers, json } = await run();
    assert.deepEqual([status, headers['retry-after']], [503, '1']);
    assert.match(String(json['error']), /^Commands cannot run while the audit cannot be written/);
  }
  await server.restart();
  await waitUntil('commands run', async () => (await run()).status === 200);
  const { json } = await app.request<{ count: number }>('GET', '/api/executions', { token });
  assert.equal(json.count, 2);
});

test('destinations get alerts once, also from a server that starts without the database', { skip }, async (t) => {
  const server = await startPostgres(t);
  const receiver = await startReceiver(t);
  const dataDir = createFolder(t);
  const settings = { dataDir, destinations: [{ name: 'hook', type: 'webhook', url: receiver.url }] };
  const delivered = () => receiver.requests.map(({ body }) => JSON.parse(body).message);
  const before = await start(t, server.url(), settings);
  await sendInTime(before, '0');
  await waitUntil('the first alert is delivered', () => delivered().length === 1);
  await before.close();
  await server.stop('SIGKILL');
  const app = await start(t, server.url(), settings);
  await sendInTime(app, '1');
  await server.restart();
  await waitUntil('the second alert is delivered', () => delivered().length === 2);
  await sendInTime(app, '2');
  await waitUntil('the third alert is delivered', () => delivered().length === 3);
  assert.deepEqual(delivered(), ['0', '1', '2']);
});
