import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { openConnection, sendRaw } from '../support/connection.ts';
import { waitUntil } from '../support/wait.ts';
import type { TaskList } from './support/tasks.ts';

const listen = async (t: TestContext, settings = {}): Promise<string> => {
  const { url } = await startApp(t, { settings: { profiles: ['T'], ...settings } });
  return url;
};

const assertError = (answer: string, status: number, request: string): void => {
  assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), request);
  assert.match(answer, /\r\ncontent-type: application\/json; charset=utf-8\r\n/i, request);
  assert.match(answer, /\r\n\r\n\{"error":"[^"]+"\}$/, request);
};

test('bytes that are not HTTP get a JSON error', async (t) => {
  const url = await listen(t);
  const cases: [number, string][] = [
    [400, 'hello\r\n\r\n'],
    [400, 'GET / HTTP/1.1\r\nHost: localhost\r\nbad header\r\n\r\n'],
    [400, 'POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'],
    [400, 'GET /api/tasks HTTP/1.1\r\nConnection: close\r\n\r\n'],
    [431, `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
  ];
  for (const [status, request] of cases) assertError(await sendRaw(url, request), status, request.slice(0, 80));
});

test('with cors on, protocol errors have the two headers, too', async (t) => {
  const answer = await sendRaw(await listen(t, { cors: true }), 'hello\r\n\r\n');
  assertError(answer, 400, 'hello');
  assert.match(answer, /\r\nAccess-Control-Allow-Origin: \*\r\nAccess-Control-Allow-Methods: GET,POST,PUT,DELETE\r\n/i);
});

test('a request whose Host is empty, repeated, missing or malformed gets 400 and ends the connection', async (t) => {
  const url = await listen(t);
  for (const host of ['Host:', 'Host: localhost\r\nHost: localhost', 'Host: user@localhost', 'X: y']) {
    const answer = await sendRaw(url, `GET /api/tasks HTTP/1.1\r\n${host}\r\n\r\n`);
    assertError(answer, 400, host);
  }
});

test('errors that Node itself would send are JSON: CONNECT, unmet expectations, unknown methods and versions', async (t) => {
  const url = await listen(t);
  const cases: [number, string][] = [
    [405, 'CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    [417, 'GET /api/tasks HTTP/1.1\r\nHost: localhost\r\nExpect: more\r\n\r\n'],
    [501, 'FOO /api/tasks HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    [505, 'GET /api/tasks HTTP/3.0\r\nHost: localhost\r\n\r\n'],
  ];
  for (const [status, request] of cases) assertError(await sendRaw(url, request), status, request);
});

test('a response of any size is streamed, and the list arrives complete', async (t) => {
  const count = 20_000;
  const tasks = Array.from({ length: count }, (_, index) => ({ Title: `task ${index} ${'x'.repeat(100)}` }));
  const { request } = await startApp(t, { settings: { profiles: ['T'] }, seed: { tasks } });
  const { headers, json: body } = await request<TaskList>('GET', `/api/tasks?limit=${count + 1}`);
  assert.equal(headers['transfer-encoding'], 'chunked');
  assert.deepEqual([body.total, body.count, body.data.length], [count, count, count]);
  assert.ok(body.data.every(({ Id }, index) => Id === index + 1));
});

test('a task that is deleted while the body of its PUT arrives gets 404, and stays deleted', async (t) => {
  const { url, request } = await startApp(t, {
    settings: { profiles: ['T'] },
    seed: { tasks: [{ Title: 'x' }] },
  });
  const body = '{"Title":"too late"}';
  const connection = openConnection(url);
  const head = `PUT /api/tasks/1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: 100-continue\r\n`;
  connection.send(`${head}Content-Length: ${body.length}\r\n\r\n`);
  // 100 Continue shows that the request has reached the server.
  await waitUntil('the server asks for the body', () => connection.unread().startsWith('HTTP/1.1 100 '));
  assert.equal((await request('DELETE', '/api/tasks/1')).status, 200);
  connection.send(body);
  const late = await connection.next();
  assert.deepEqual([late?.status, String(late?.body)], [404, '{"error":"Task with Id=1 not found"}']);
  assert.equal((await request('GET', '/api/tasks')).json['total'], 0);
});
