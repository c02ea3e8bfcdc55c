import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { openConnection } from '../support/connection.ts';
import { get, lines, post, task } from './support/requests.ts';

const body = task('second');
const all = [
  `${post(`Content-Length: ${body.length}`)}${body}`,
  get('/api/tasks'),
  lines('DELETE /api/tasks/2 HTTP/1.1', 'Host: localhost'),
  get('/api/tasks/2'),
  get('/api/tasks', 'Connection: close'),
].join('');

test('RFC 9112 9.3.2: a pipelined request sees the effects of earlier requests', async (t) => {
  const { url } = await startApp(t, { settings: { profiles: ['T'] }, seed: { tasks: [{ Title: 'first' }] } });
  const connection = openConnection(url);
  connection.send(all);
  const { responses } = await connection.closed();
  assert.deepEqual(
    responses.map(({ status }) => status),
    [201, 200, 200, 404, 200],
  );
  const totals = [responses[1], responses[4]].map((list) => JSON.parse(String(list?.body)).total);
  assert.deepEqual(totals, [2, 1]);
});

test('RFC 9112 9.6: a client that half-closes the connection after its requests gets their responses', async (t) => {
  const { url } = await startApp(t, { seed: { tasks: [{ Title: 'first' }] } });
  for (const path of ['/api/tasks/1', '/api/tasks', '/health', '/api/processes', '/docs/']) {
    const connection = openConnection(url);
    connection.send(get(path) + get('/api/tasks/1'));
    connection.end();
    const { responses } = await connection.closed();
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 200],
      path,
    );
  }
});

test('RFC 9110 10.1.1: 100 Continue is sent only if the request has passed all checks before its body', async (t) => {
  const { url } = await startApp(t);
  const expect = ['Host: localhost', `Content-Length: ${body.length}`, 'Expect: 100-continue'];
  for (const [path, status] of [
    ['/api/items', 401],
    ['/nope', 404],
    ['/health', 405],
  ] as const) {
    const connection = openConnection(url);
    connection.send(lines(`POST ${path} HTTP/1.1`, ...expect));
    const { text } = await connection.closed();
    assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `), path);
  }
  const connection = openConnection(url);
  connection.send(lines('PUT /api/tasks/9 HTTP/1.1', ...expect, 'Connection: close'));
  assert.match((await connection.closed()).text, /^HTTP\/1\.1 404 /);
  const welcome = openConnection(url);
  welcome.send(lines('POST /api/tasks HTTP/1.1', ...expect, 'Connection: close'));
  welcome.send(body);
  assert.match((await welcome.closed()).text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
});

test('a request with more than 200 header lines gets 431', async (t) => {
  const { url } = await startApp(t, { seed: { tasks: [{ Title: 'first' }] } });
  for (const [count, status] of [
    [198, 200],
    [199, 431],
    [3000, 431],
  ] as const) {
    const connection = openConnection(url);
    connection.send(get('/api/tasks/1', ...Array<string>(count).fill('a:'), 'Connection: close'));
    const { responses } = await connection.closed();
    assert.equal(responses[0]?.status, status, String(count));
  }
});

test('a client that pipelines too many requests is disconnected, and others are served', async (t) => {
  const { url, request } = await startApp(t, {
    settings: { profiles: ['T'] },
    seed: { tasks: [{ Title: 'first' }] },
  });
  const connection = openConnection(url);
  connection.send(get('/api/tasks/1').repeat(2000));
  const { responses } = await connection.closed();
  assert.ok(responses.length < 2000);
  assert.equal((await request('GET', '/api/tasks/1')).status, 200);
  const patient = openConnection(url);
  patient.send(`${get('/api/tasks/1').repeat(400)}${get('/api/tasks/1', 'Connection: close')}`);
  assert.equal((await patient.closed()).responses.length, 401);
});
