import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passwords, startApp } from '../support/app.ts';
import { findFreePort } from '../support/free-port.ts';
import { answer, type Behaviour, startReceiver } from '../support/receiver.ts';
import { catchError, createClient } from './built-client.ts';

/** Creates a handler that responds with JSON. */
const json =
  (status: number, value: unknown, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    void response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(value));

/** Creates a handler that uses the given handlers one after another, and keeps using the last one. */
const inTurn =
  (...behaviours: Behaviour[]): Behaviour =>
  (response, request, index) =>
    behaviours[Math.min(index, behaviours.length - 1)]?.(response, request, index);

const breakOff: Behaviour = (response) => void response.destroy();
const silence: Behaviour = () => undefined;
const task = { Id: 1, Title: 'Check the backups' };

test('a refusal becomes an error with the message, the status and the body of the response', async (t) => {
  const { url } = await startApp(t);
  const { call } = createClient(url);
  const missing = await catchError(call('getTask', { id: 999 }));
  assert.deepEqual([missing.name, missing.code, missing.status], ['ClientError', 'status', 404]);
  assert.equal(missing.message, 'Task with Id=999 not found');
  const invalid = await catchError(call('createTask', {}));
  assert.deepEqual(invalid.body, { error: 'Validation failed', detail: ['Title is required'] });
  const { requestId } = await catchError(call('runCommand', {}));
  assert.equal(requestId, undefined);
});

test('a path parameter that is empty, "." or ".." is refused before anything is sent', async (t) => {
  const receiver = await startReceiver(t, json(200, task));
  const { call } = createClient(receiver.url);
  for (const id of ['', '.', '..']) {
    await assert.rejects(async () => call('getTask', { id: id as never }), { name: 'TypeError' });
    await assert.rejects(async () => call('retryDelivery', { destination: 'pager', id }), { name: 'TypeError' });
  }
  assert.equal(receiver.requests.length, 0);
  await call('getTask', { id: '...' as never });
  assert.equal(receiver.requests.length, 1);
});

test('an error has the id of a failed request, and the seconds to wait', async (t) => {
  const receiver = await startReceiver(t, json(500, { error: 'Internal error', requestId: 'req-8' }));
  const { call } = createClient(receiver.url);
  assert.equal((await catchError(call('getHealth'))).requestId, 'req-8');
  receiver.behave(json(503, { error: 'busy' }, { 'Retry-After': '3600' }));
  assert.equal((await catchError(call('getHealth'))).retryAfter, 3600);
  receiver.behave(json(503, {}, { 'Retry-After': new Date(Date.now() + 3_600_000).toUTCString() }));
  const { retryAfter = 0, message } = await catchError(call('getHealth'));
  assert.ok(retryAfter > 3500 && retryAfter <= 3600, String(retryAfter));
  assert.equal(message, `GET ${receiver.url}/api/health: status 503`);
});

test('a response that is not JSON, or a redirect, is an error', async (t) => {
  const page: Behaviour = (response) => void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>Hello');
  const receiver = await startReceiver(t, page);
  const { call } = createClient(receiver.url);
  const error = await catchError(call('getHealth'));
  assert.deepEqual([error.code, error.status, error.body], ['format', 200, '<p>Hello']);
  receiver.behave(answer(302, { Location: '/elsewhere' }));
  assert.equal((await catchError(call('createTask', { Title: 'x' }))).status, 302);
  assert.deepEqual(
    receiver.requests.map(({ path }) => path),
    ['/api/health', '/api/tasks'],
  );
});

test('a read is repeated after a lost connection and after 429, 502, 503 and 504', async (t) => {
  const refusals = [429, 502, 503, 504].map((status) => answer(status, { 'Retry-After': '0' }));
  const receiver = await startReceiver(t, inTurn(breakOff, ...refusals, json(200, { status: 'healthy' })));
  const { call } = createClient(receiver.url, { retries: 5 });
  assert.deepEqual(await call('getHealth'), { status: 'healthy' });
  assert.equal(receiver.requests.length, 6);
});

test('attempts wait as long as Retry-After says, and are not made if the wait is too long', async (t) => {
  const receiver = await startReceiver(t, inTurn(answer(503, { 'Retry-After': '1' }), json(200, {})));
  const { call } = createClient(receiver.url);
  await call('getHealth');
  const [first, second] = receiver.requests;
  assert.ok(first && second && second.at - first.at >= 990);
  receiver.behave(answer(503, { 'Retry-After': '60' }));
  assert.equal((await catchError(call('getHealth'))).status, 503);
  assert.equal(receiver.requests.length, 3);
});

test('the client or the call limits the number of attempts', async (t) => {
  const receiver = await startReceiver(t, answer(503, { 'Retry-After': '0' }));
  const { call } = createClient(receiver.url, { retries: 2 });
  await catchError(call('getHealth'));
  assert.equal(receiver.requests.length, 3);
  await catchError(call('getHealth', undefined, { retries: 0 }));
  assert.equal(receiver.requests.length, 4);
});

test('a task or alert is sent again with its key, and other changes are sent once', async (t) => {
  const receiver = await startReceiver(t, inTurn(breakOff, answer(503, { 'Retry-After': '0' }), json(201, task)));
  const { call } = createClient(receiver.url);
  assert.deepEqual(await call('createTask', { Title: 'Check the backups' }), task);
  const keys = receiver.requests.map(({ headers }) => headers['idempotency-key']);
  assert.ok(keys.length === 3 && typeof keys[0] === 'string' && new Set(keys).size === 1, String(keys));
  await call('createTask', { Title: 'Check the backups' });
  assert.notEqual(receiver.requests[3]?.headers['idempotency-key'], keys[0]);
  await call('createAlert', { message: 'disk is full' }, { idempotencyKey: 'mine' });
  assert.equal(receiver.requests[4]?.headers['idempotency-key'], 'mine');
  receiver.behave(breakOff);
  for (const [name, input] of [
    ['createItem', { name: 'label printer' }],
    ['updateTask', { id: 1, Status: 'Completed' }],
    ['deleteTask', { id: 1 }],
  ] as const) {
    assert.equal((await catchError(call(name, input, { ifMatch: '"3"' }))).code, 'connection');
  }
  const sent = receiver.requests.slice(5).map(({ method, path, headers }) => [method, path, headers['if-match']]);
  assert.deepEqual(sent, [
    ['POST', '/api/items', '"3"'],
    ['PUT', '/api/tasks/1', '"3"'],
    ['DELETE', '/api/tasks/1', '"3"'],
  ]);
});

test('a task whose first request still runs is sent again, and after other conflicts it is not', async (t) => {
  const running = { error: 'A request with this Idempotency-Key is running' };
  const receiver = await startReceiver(
    t,
    inTurn(breakOff, json(409, running, { 'Retry-After': '0' }), json(201, task)),
  );
  const { call } = createClient(receiver.url);
  assert.deepEqual(await call('createTask', { Title: 'Check the backups' }), task);
  assert.equal(new Set(receiver.requests.map(({ headers }) => headers['idempotency-key'])).size, 1);
  for (const status of [409, 422]) {
    receiver.behave(json(status, { error: 'This Idempotency-Key was used for a request with another body' }));
    assert.equal((await catchError(call('createTask', { Title: 'Check the backups' }))).status, status);
  }
  assert.equal(receiver.requests.length, 5);
});

test('a server that cannot be reached, or is silent, is an error within the timeout', async (t) => {
  const port = await findFreePort();
  const gone = createClient(`http://127.0.0.1:${port}`, { retries: 1 });
  const error = await catchError(gone.call('getHealth'));
  assert.deepEqual([error.code, error.status], ['connection', 0]);
  assert.equal(error.message, `GET http://127.0.0.1:${port}/api/health: no response: ECONNREFUSED`);
  const { url } = await startReceiver(t, silence);
  const { call } = createClient(url, { timeout: 200 });
  assert.equal((await catchError(call('getHealth'))).code, 'timeout');
  const started = performance.now();
  await catchError(gone.call('getHealth', undefined, { retries: 100, timeout: 1000 }));
  assert.ok(performance.now() - started < 10_000);
});

test('a signal ends a call, also while it waits for the next attempt, with its own reason', async (t) => {
  const reason = new Error('the user has left');
  for (const behaviour of [silence, answer(503, { 'Retry-After': '20' })]) {
    const { url, requests } = await startReceiver(t, behaviour);
    const { call } = createClient(url);
    const ended = new AbortController();
    const health = call('getHealth', undefined, { signal: ended.signal });
    setTimeout(() => ended.abort(reason), 100);
    await assert.rejects(health, reason);
    await assert.rejects(call('getHealth', undefined, { signal: ended.signal }), reason);
    assert.equal(requests.length, 1);
  }
});

test('addresses, parameters and queries are escaped, and absent ones are left out', async (t) => {
  const { url, requests } = await startReceiver(t, json(200, { data: [] }));
  const { call } = createClient(`${url}/box/?x=1#top`);
  await call('getTask', { id: 'a/b?' });
  await call('searchAlerts', { q: 'ä & b', level: '', source: undefined, limit: 0 });
  assert.deepEqual(
    requests.map(({ path }) => path),
    ['/box/api/tasks/a%2Fb%3F', '/box/api/alerts/search?q=%C3%A4+%26+b&limit=0'],
  );
  await assert.rejects(call('getTask', {}), new TypeError('getTask needs id'));
  for (const address of ['localhost', 'localhost:8080', 'ftp://127.0.0.1', 'file:///tmp']) {
    assert.throws(() => createClient(address), TypeError, address);
  }
});

test('the version of a response protects a change', async (t) => {
  const { url } = await startApp(t);
  const { call, withResponse } = createClient(url, { credentials: { user: 'admin', password: passwords.admin } });
  const { Id: id } = await call('createTask', { Title: 'Check the backups' });
  const { version, response } = await withResponse('getTask', { id });
  assert.equal(response.status, 200);
  assert.ok(version);
  await call('updateTask', { id, Status: 'InProgress' }, { ifMatch: version });
  const late = call('updateTask', { id, Status: 'Completed' }, { ifMatch: version });
  assert.equal((await catchError(late)).status, 412);
});

test('a call without a time limit waits for its response', async (t) => {
  const { url } = await startApp(t);
  const health = await createClient(url).call('getHealth', undefined, { timeout: Number.POSITIVE_INFINITY });
  assert.equal(health['status'], 'healthy');
});
