import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { test } from 'node:test';
import Type from 'typebox';
import { startApp, type TestApp } from '../../../test/support/app.ts';
import { openEvents } from '../../../test/support/events.ts';
import { createFolder } from '../../../test/support/folder.ts';
import { waitUntil, waitUntilPasses } from '../../../test/support/wait.ts';
import { createAccessKey, needs } from '../../auth/access.ts';
import { defineFeature } from '../../kit/feature.ts';
import { features } from '../index.ts';

const send = ({ request }: TestApp, message: string) => request('POST', '/api/alert', { body: { message } });

const messagesOf = (events: readonly { data: Record<string, unknown> }[]): unknown[] =>
  events.map(({ data }) => data['message']);

test('an alert is sent in the form of the search, with its seq as the id', async (t) => {
  const app = await startApp(t);
  const client = await openEvents(t, app.url, 'alerts');
  assert.equal(client.status, 200);
  assert.equal(client.headers['content-type'], 'text/event-stream; charset=utf-8');
  assert.equal(client.headers['x-accel-buffering'], 'no');
  assert.equal(client.headers['cache-control'], 'no-store');
  await client.waitFor('hello');
  await send(app, 'first');
  const [event] = await client.waitFor('alerts');
  const { json } = await app.request<{ data: { seq: number }[] }>('GET', '/api/alerts/search');
  // The new alert's incident is not known yet.
  assert.deepEqual(event?.data, { ...json.data[0], incident: null });
  assert.equal(event?.id, String(json.data[0]?.seq));
});

test('a client that reconnects gets every missed alert once and in order, even after a restart', async (t) => {
  const dataDir = createFolder(t);
  const first = await startApp(t, { settings: { dataDir } });
  const client = await openEvents(t, first.url, 'alerts');
  await send(first, 'a0');
  const [{ id } = { id: undefined }] = await client.waitFor('alerts');
  client.close();
  for (const message of ['a1', 'a2', 'a3']) await send(first, message);
  await first.close();
  const second = await startApp(t, { settings: { dataDir } });
  await send(second, 'a4');
  const again = await openEvents(t, second.url, 'alerts', { lastEventId: id });
  await again.waitFor('alerts', 4);
  await send(second, 'a5');
  assert.deepEqual(messagesOf(await again.waitFor('alerts', 5)), ['a1', 'a2', 'a3', 'a4', 'a5']);
  assert.equal(
    again.events().some(({ name }) => name === 'resync'),
    false,
  );
});

test('a client that has received no alert resumes from the id of the event hello', async (t) => {
  const app = await startApp(t);
  await send(app, 'before');
  const client = await openEvents(t, app.url, 'alerts');
  const [hello] = await client.waitFor('hello');
  assert.deepEqual(hello?.data, { topics: ['alerts'] });
  client.close();
  await send(app, 'missed');
  const again = await openEvents(t, app.url, 'alerts', { lastEventId: hello?.id });
  assert.deepEqual(messagesOf(await again.waitFor('alerts')), ['missed']);
});

test('a logout while a stream is being opened ends the request with 401', async (t) => {
  let hasBegun = false;
  let goOn = (): void => undefined;
  const refresh = (): Promise<void> => {
    hasBegun = true;
    return new Promise((resolve) => {
      goOn = resolve;
    });
  };
  const slow = defineFeature({
    name: 'slow',
    profiles: [{ name: 'slow', mounts: ['/'], summary: 'a topic that is slow to refresh' }],
    settings: {},
    create: () => ({
      profiles: { slow: [] },
      topics: {
        slow: { ...needs('events:read'), schema: Type.Object({}), lastId: () => 1, refresh, subscribe: () => () => {} },
      },
    }),
  });
  const app = await startApp(t, { features: [...features, slow] });
  const token = await app.login('reader');
  const opening = openEvents(t, app.url, 'slow', { token, lastEventId: 'slow=1' });
  await waitUntil('the topic is being refreshed', () => hasBegun);
  assert.equal((await app.request('DELETE', '/api/sessions', { token })).status, 200);
  goOn();
  assert.equal((await opening).status, 401);
});

test('all alerts of a burst are sent in order', async (t) => {
  const app = await startApp(t);
  const client = await openEvents(t, app.url, 'alerts');
  await client.waitFor('hello');
  const messages = Array.from({ length: 300 }, (_, index) => `m${index}`);
  await Promise.all(messages.map((message) => send(app, message)));
  const received = await client.waitFor('alerts', messages.length);
  assert.deepEqual(messagesOf(received).toSorted(), messages.toSorted());
  const ids = received.map(({ id }) => Number(id));
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  );
});

test('after a reconnect, resync names the topics that cannot be resumed', async (t) => {
  const app = await startApp(t);
  await send(app, 'a');
  const some = await openEvents(t, app.url, 'alerts,tasks', { lastEventId: '1' });
  assert.deepEqual((await some.waitFor('resync'))[0]?.data, { topics: ['tasks'] });
  const all = await openEvents(t, app.url, 'alerts,tasks', { lastEventId: '999' });
  assert.deepEqual((await all.waitFor('resync'))[0]?.data, { topics: ['alerts', 'tasks'] });
  const fresh = await openEvents(t, app.url, 'tasks');
  await fresh.waitFor('hello');
  assert.equal(fresh.events().length, 1);
});

test('changes of tasks are sent with id and kind', async (t) => {
  const app = await startApp(t);
  const client = await openEvents(t, app.url, 'tasks');
  await client.waitFor('hello');
  await app.request('POST', '/api/tasks', { body: { Title: 'a' } });
  await app.request('PUT', '/api/tasks/1', { body: { Status: 'Completed' } });
  await app.request('PUT', '/api/tasks/7', { body: { Status: 'Completed' } });
  await app.request('DELETE', '/protected/api/tasks/1');
  const events = await client.waitFor('tasks', 3);
  assert.deepEqual(
    events.map(({ data }) => data),
    [
      { id: 1, kind: 'created' },
      { id: 1, kind: 'updated' },
      { id: 1, kind: 'deleted' },
    ],
  );
});

test('executed and refused commands are sent with the id of their request', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const client = await openEvents(t, app.url, 'executions', { token });
  await client.waitFor('hello');
  for (const command of ['Get-Date', 'Remove-Item /']) {
    await app.request('POST', '/api/execute', { token, body: { command } });
  }
  const events = await client.waitFor('executions', 2);
  const { json } = await app.request<{ data: { requestId: string }[] }>('GET', '/api/executions', { token });
  assert.deepEqual(
    events.map(({ data }) => data),
    json.data.map(({ requestId }) => ({ requestId })),
  );
});

test('a client that reconnects with an invalid id gets resync for all its topics', async (t) => {
  const app = await startApp(t);
  await send(app, 'a');
  for (const lastEventId of ['-', '-1', '1.5', 'x', '9'.repeat(30)]) {
    const client = await openEvents(t, app.url, 'tasks,alerts', { lastEventId });
    assert.deepEqual((await client.waitFor('resync'))[0]?.data, { topics: ['tasks', 'alerts'] }, lastEventId);
    assert.equal((await client.waitFor('hello'))[0]?.id, '1');
    client.close();
  }
});

test('the event hello of topics without ids repeats the id of the client', async (t) => {
  const app = await startApp(t);
  for (const [lastEventId, id] of [
    [undefined, '-'],
    ['-', '-'],
    ['41', '41'],
  ]) {
    const client = await openEvents(t, app.url, 'tasks', { lastEventId });
    assert.equal((await client.waitFor('hello'))[0]?.id, id);
    if (lastEventId !== undefined) await client.waitFor('resync');
    client.close();
  }
});

test('usage of the machine is sent every second and processes every 2 s, as numbers', async (t) => {
  const app = await startApp(t);
  const client = await openEvents(t, app.url, 'host,processes');
  const [, usage] = await client.waitFor('host', 2);
  for (const name of ['cpu', 'memoryUsed', 'memoryTotal', 'load'])
    assert.equal(typeof usage?.data[name], 'number', name);
  const [, processes] = await client.waitFor('processes', 2);
  const rows = processes?.data['data'] as { pid: number; user: string; cpu: number; memoryBytes: number }[];
  const own = rows.find(({ pid }) => pid === process.pid);
  assert.ok(own && own.memoryBytes > 0 && own.cpu >= 0);
  assert.equal(own.user, userInfo().username);
});

test('a second listener gets the last reading at once, without effect on the first listener', async (t) => {
  const app = await startApp(t);
  const first = await openEvents(t, app.url, 'host');
  const [, before] = await first.waitFor('host', 2);
  const second = await openEvents(t, app.url, 'host');
  assert.deepEqual((await second.waitFor('host'))[0], before);
  const shares = (await first.waitFor('host', 4)).slice(1).map(({ data }) => data['cpu']);
  for (const share of shares) assert.equal(typeof share, 'number', String(shares));
});

test('after a pause without listeners, the first usage is unknown instead of a mean of the pause', async (t) => {
  const app = await startApp(t, { settings: { profiles: ['monitoring', 'events'] } });
  const readFirst = async () => {
    const client = await openEvents(t, app.url, 'host,processes');
    const [[usage], [processes]] = await Promise.all([client.waitFor('host'), client.waitFor('processes')]);
    client.close();
    const rows = processes?.data['data'] as { cpu: number | null }[];
    return [usage?.data['cpu'], usage?.data['networkReceived'], rows.find(({ cpu }) => cpu !== null)];
  };
  assert.deepEqual(await readFirst(), [null, null, undefined]);
  const end = performance.now() + 2500;
  await waitUntil('the last readings are older than their intervals', () => performance.now() > end);
  assert.deepEqual(await readFirst(), [null, null, undefined]);
});

test('with the history, the first usage is the usage of the last second', async (t) => {
  const app = await startApp(t);
  await waitUntilPasses(async () => {
    const client = await openEvents(t, app.url, 'host');
    const [usage] = await client.waitFor('host');
    client.close();
    assert.equal(typeof usage?.data['cpu'], 'number');
  });
});

test('each topic requires the access of its route', async (t) => {
  const reader = createAccessKey('reader', ['alerts:read']);
  const settings = { alertsAuth: 'bearer', keys: [reader.entry] };
  const app = await startApp(t, { settings });
  const [admin, user] = [await app.login('admin'), await app.login('reader')];
  for (const [topics, token, status] of [
    ['host,processes,tasks', undefined, 200],
    ['alerts', undefined, 401],
    ['tasks,alerts', undefined, 401],
    ['alerts', reader.key, 200],
    ['alerts', user, 200],
    ['deliveries', reader.key, 403],
    ['deliveries', user, 200],
    ['executions', user, 403],
    ['alerts,deliveries,executions', admin, 200],
  ] as const) {
    const client = await openEvents(t, app.url, topics, token === undefined ? {} : { token });
    assert.equal(client.status, status, `${topics} ${token}`);
    client.close();
  }
});

test('missing and unknown topics are refused with 400 and a list of the topics', async (t) => {
  const { request } = await startApp(t, { settings: { profiles: ['alerts', 'events'] } });
  for (const [query, message] of [
    ['', 'topics must name at least one of alerts, deliveries'],
    ['?topics=,', 'topics must name at least one of alerts, deliveries'],
    ['?topics=alerts,tasks', 'There is no topic "tasks"; the topics are alerts, deliveries'],
  ]) {
    const { status, json } = await request('GET', `/api/events${query}`);
    assert.deepEqual([status, json['error']], [400, message]);
  }
});

test('a long alert with markup and line breaks is sent as one line of JSON', async (t) => {
  const app = await startApp(t);
  const client = await openEvents(t, app.url, 'alerts');
  await client.waitFor('hello');
  const message = `<script>\n\ndata: x\r\nid: 7\n${'\u202e'.repeat(10)}${'x'.repeat(10_000)}`;
  await send(app, message);
  assert.deepEqual(messagesOf(await client.waitFor('alerts')), [message]);
});

test('HEAD returns the headers without opening a stream', async (t) => {
  const { request } = await startApp(t);
  const { status, headers } = await request('HEAD', '/api/events?topics=tasks');
  const got = [status, headers['content-type'], headers['x-accel-buffering']];
  assert.deepEqual(got, [200, 'text/event-stream; charset=utf-8', 'no']);
});
