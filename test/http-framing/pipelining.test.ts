import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
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

// With requests logged, none goes the short way.
for (const level of ['info', 'debug']) {
  test(`RFC 9112 9.3.2: at log level ${level} a pipelined request sees the effects of those before it`, async (t) => {
    const { url } = await startApp(t, {
      settings: { profiles: ['T'] },
      log: pino({ level }, { write: () => undefined }),
      seed: { tasks: [{ Title: 'first' }] },
    });
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
}

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
