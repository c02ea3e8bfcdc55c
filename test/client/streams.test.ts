import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { passwords, startApp, type TestApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { startProgram } from '../support/program.ts';
import { answer, type Behaviour, startReceiver } from '../support/receiver.ts';
import { atEnd } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';
import { catchError, createClient, type Event, take, typesPath } from './built-client.ts';

const credentials = { user: 'admin', password: passwords.admin };

const types = readFileSync(typesPath, 'utf8');

/** Collects events until the stream ends. */
const collect = (events: AsyncIterable<Event>): { seen: Event[]; ended: Promise<unknown> } => {
  const seen: Event[] = [];
  const read = async () => {
    for await (const event of events) seen.push(event);
  };
  return { seen, ended: read().catch((error: unknown) => error) };
};

/**
 * Returns a signal that is aborted when the test ends, because a stream without its server retries as long as it is
 * read.
 */
const untilEnd = (t: TestContext): AbortSignal => {
  const end = new AbortController();
  atEnd(t, () => end.abort());
  return end.signal;
};

const countStreams = async ({ request }: TestApp): Promise<number> =>
  Number(/^signalbox_event_streams (\d+)$/m.exec((await request('GET', '/metrics')).text)?.[1]);

test('events have their topic, data and id, from the beginning of the loop', async (t) => {
  const app = await startApp(t);
  const { call, streamEvents } = createClient(app.url);
  const { seen } = collect(streamEvents({ topics: ['tasks', 'alerts'] }, { signal: untilEnd(t) }));
  await waitUntil('the stream is open', async () => (await countStreams(app)) === 1);
  await call('createTask', { Title: 'Check the backups' });
  await call('createAlert', { message: 'disk is full' });
  await waitUntil('both events have arrived', () => seen.length >= 2);
  const [created, alert] = seen;
  assert.deepEqual([created?.topic, created?.data], ['tasks', { id: 1, kind: 'created' }]);
  assert.deepEqual([alert?.topic, alert?.data['message'], alert?.id], ['alerts', 'disk is full', '1']);
});

/** Lists the names of the members of a type in client.d.ts, excluding nested members. */
const listMembers = (name: string): string[] => {
  const block = new RegExp(`^( *)(?:export type )?${name}(?: =|:) \\{\\n([^]*?)^\\1\\}`, 'm');
  const [, , text = ''] = block.exec(types) ?? [];
  const [indent = ''] = /^ +/.exec(text) ?? [];
  return [...text.matchAll(new RegExp(`^${indent}(\\w+)\\??:`, 'gm'))].map(([, member = '']) => member);
};

test('the types contain the topics of the server, and the fields of its readings', async (t) => {
  const { url } = await startApp(t);
  const { streamEvents } = createClient(url);
  const { message } = await catchError(take(streamEvents({ topics: ['weather'] }), 1));
  const [, topics = ''] = /the topics are (.*)$/.exec(message) ?? [];
  assert.deepEqual(listMembers('Topics').sort(), topics.split(', ').sort());
  for (const [topic, name] of [
    ['host', 'HostUsage'],
    ['processes', 'ProcessUsage'],
    ['top', 'ProcessUsage'],
  ] as const) {
    const [event] = await take(streamEvents({ topics: [topic] }), 1);
    assert.deepEqual(listMembers(name).sort(), Object.keys(event?.data ?? {}).sort());
  }
});

test('leaving the loop, or aborting the signal, closes the stream', async (t) => {
  const app = await startApp(t);
  const { streamEvents } = createClient(app.url);
  const [event] = await take(streamEvents({ topics: ['host'] }), 1);
  assert.equal(event?.topic, 'host');
  await waitUntil('no stream is open', async () => (await countStreams(app)) === 0);
  const reason = new Error('the user has left');
  const left = new AbortController();
  const { seen, ended } = collect(streamEvents({ topics: ['host'] }, { signal: left.signal }));
  await waitUntil('an event has arrived', () => seen.length > 0);
  left.abort(reason);
  assert.equal(await ended, reason);
  await waitUntil('no stream is open', async () => (await countStreams(app)) === 0);
});

test('after a restart the stream continues without losing an alert, and names the topics to read again', async (t) => {
  const port = await findFreePort();
  const folder = createFolder(t);
  const start = () => startProgram(t, ['--port', String(port), '--data-dir', join(folder, 'data')], { cwd: folder });
  const first = await start();
  const { call, streamEvents } = createClient(first.url);
  const { seen } = collect(streamEvents({ topics: ['alerts', 'tasks'] }, { signal: untilEnd(t) }));
  const listAlerts = () => seen.flatMap(({ topic, data }) => (topic === 'alerts' ? [data['message']] : []));
  await waitUntil('alerts arrive', async () => {
    await call('createAlert', { message: 'before' });
    return listAlerts().length > 0;
  });
  await first.stop();
  const second = await start();
  await second.request('POST', '/api/alert', { body: { message: 'after' } });
  await waitUntil('the alert has arrived', () => listAlerts().includes('after'));
  await waitUntil('the event resync has arrived', () => seen.some(({ topic }) => topic === 'resync'));
  assert.deepEqual(seen.find(({ topic }) => topic === 'resync')?.data, { topics: ['tasks'] });
  const { data } = await second
    .request<{ data: { message: string }[] }>('GET', '/api/alerts?count=1000')
    .then(({ json }) => json);
  const stored = data.map(({ message }) => message);
  assert.deepEqual(listAlerts(), stored.slice(-listAlerts().length));
});

test('a stream begins after an event that was handled earlier', async (t) => {
  const { url } = await startApp(t);
  const { call, streamEvents } = createClient(url);
  for (const message of ['one', 'two', 'three']) await call('createAlert', { message });
  const events = await take(streamEvents({ topics: ['alerts'], lastEventId: '1' }), 2);
  assert.deepEqual(
    events.map(({ data }) => data['message']),
    ['two', 'three'],
  );
});

test('a stream that the server refuses, or that cannot be opened at first, is an error', async (t) => {
  const { url } = await startApp(t);
  const open = (topic: string, options = {}) => take(createClient(url, options).streamEvents({ topics: [topic] }), 1);
  assert.equal((await catchError(open('weather'))).status, 400);
  assert.equal((await catchError(open('deliveries'))).status, 401);
  const [deliveries] = await open('deliveries', { credentials });
  assert.equal(deliveries?.topic, 'deliveries');
  const gone = createClient(`http://127.0.0.1:${await findFreePort()}`, { retries: 0 });
  assert.equal((await catchError(take(gone.streamEvents({ topics: ['host'] }), 1))).code, 'connection');
});

/** Creates a handler with a response of this content type that begins with the text and does not end. */
const begin =
  (contentType: string, text: string): Behaviour =>
  (response) =>
    void response.writeHead(200, { 'Content-Type': contentType }).write(text);

test('a response that is no stream of events, and an event that is not JSON, is an error', async (t) => {
  const receiver = await startReceiver(t);
  const { streamEvents } = createClient(receiver.url);
  const read = () => catchError(take(streamEvents({ topics: ['alerts'] }), 1));
  for (const [behaviour, status] of [
    [begin('text/html', '<p>Hello'), 200],
    [answer(204), 204],
    [answer(204, { 'Content-Type': 'text/event-stream' }), 204],
    [answer(200), 200],
  ] as const) {
    receiver.behave(behaviour);
    const error = await read();
    assert.deepEqual([error.code, error.status], ['format', status]);
  }
  assert.equal(receiver.requests.length, 4);
  receiver.behave(begin('text/event-stream', 'event: alerts\ndata: {"id":\n\n'));
  const error = await read();
  assert.deepEqual([error.code, error.body], ['format', '{"id":']);
});

test('a stream that is cut after its first event is opened again with growing pauses', async (t) => {
  const hello = 'event: hello\ndata: {"topics":["alerts"]}\n\n';
  const receiver = await startReceiver(
    t,
    (response) => void response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(hello),
  );
  collect(createClient(receiver.url).streamEvents({ topics: ['alerts'] }, { signal: untilEnd(t) }));
  await waitUntil('the stream was opened five times', () => receiver.requests.length >= 5);
  const [fourth = 0, fifth = 0] = receiver.requests.slice(3, 5).map(({ at }) => at);
  assert.ok(fifth - fourth > 900, `${fifth - fourth} ms`);
});

test('a list in pages is read to its end, and only as far as the loop goes', async (t) => {
  const app = await startApp(t);
  const { call, each } = createClient(app.url, { credentials });
  for (let index = 1; index <= 25; index += 1) {
    const Priority = index % 2 === 0 ? 'High' : 'Low';
    await call('createTask', { Title: `task ${index}`, Priority });
    await call('createItem', { name: `item ${index}` });
    await call('createAlert', { message: `alert ${index}` });
  }
  const titles = (await take(each('listTasks', { limit: 10 }), 1000)).map(({ Title }) => Title);
  assert.deepEqual(
    titles,
    Array.from({ length: 25 }, (_, index) => `task ${index + 1}`),
  );
  const high = await take(each('listTasks', { priority: 'High', limit: 6 }), 1000);
  assert.equal(high.length, 12);
  assert.equal((await take(each('listTasks', { after: 20 }), 1000)).length, 5);
  assert.equal((await take(each('listTasks', { limit: 0 }), 1000)).length, 0);
  for (const size of [5, 7, 1000]) {
    const items = await take(each('listItems', { size }), 1000);
    assert.deepEqual([items.length, items.at(-1)?.['name']], [25, 'item 25']);
  }
  const alerts = await take(each('searchAlerts', { limit: 4 }), 1000);
  assert.deepEqual([alerts.length, alerts[0]?.['message'], alerts.at(-1)?.['message']], [25, 'alert 25', 'alert 1']);
  assert.equal((await take(each('searchAlerts', { limit: 4 }), 6)).length, 6);
});

test('a complete list is read as it arrives', async (t) => {
  const { url } = await startApp(t);
  const { call, each } = createClient(url, { credentials });
  for (const message of ['one', 'a "quoted" {text} [with] \\ signs', 'three ✓']) await call('createAlert', { message });
  const alerts = await take(each('listAlerts', { count: 100 }), 1000);
  assert.deepEqual(alerts, (await call('listAlerts', { count: 100 }))['data'] as unknown[]);
  await call('createTaskAtSimple', { title: 'Feed the cat' });
  assert.deepEqual(await take(each('listTasksAtSimple'), 10), [{ id: 1, title: 'Feed the cat', status: 'pending' }]);
  assert.equal((await take(each('listProcesses', { top: 3 }), 10)).length, 3);
  await call('createTask', { Title: 'Check the backups' });
  assert.equal((await take(each('listTasksAtProtected'), 1000))[0]?.['Title'], 'Check the backups');
});

test('a list that breaks off is an error after the entries that arrived', async (t) => {
  const { url } = await startReceiver(t, (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).write('{"count":2,"data":[{"message":"one"},{"mes');
    setTimeout(() => response.destroy(), 50);
  });
  const { each } = createClient(url);
  const alerts = each('listAlerts');
  assert.deepEqual((await alerts.next()).value, { message: 'one' });
  assert.equal((await catchError(alerts.next())).code, 'connection');
});

test('a list without pages whose body stalls, or is not JSON, is an error after the entries that arrived', async (t) => {
  const receiver = await startReceiver(t, begin('application/json', '{"count":2,"data":[{"message":"one"},{"mes'));
  const alerts = createClient(receiver.url).each('listAlerts', {}, { timeout: 500 });
  assert.deepEqual((await alerts.next()).value, { message: 'one' });
  const late = await catchError(alerts.next());
  assert.deepEqual([late.code, late.message], ['timeout', `GET ${receiver.url}/api/alerts: no data for 500 ms`]);
  receiver.behave(begin('application/json', '{"data":[{"message":"one"},{"message":}]}'));
  const wrong = createClient(receiver.url, { timeout: 5000 }).each('listAlerts');
  assert.deepEqual((await wrong.next()).value, { message: 'one' });
  assert.equal((await catchError(wrong.next())).code, 'format');
  receiver.behave(begin('text/html', '<p>Hello'));
  assert.equal((await catchError(createClient(receiver.url).each('listAlerts').next())).code, 'format');
});
