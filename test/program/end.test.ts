import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { openConnection } from '../support/connection.ts';
import { createFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} stops the program with exit code 0`, async (t) => {
    const { stop } = await startProgram(t, []);
    const { code, signal: killedBy } = await stop(signal);
    assert.deepEqual([code, killedBy], [0, null]);
  });
}

test('on shutdown, a running request is finished and new connections are refused', async (t) => {
  const { url, request, child, stop } = await startProgram(t, ['--profiles', 'T']);
  const body = '{"Title":"in flight"}';
  const running = openConnection(url);
  running.send(
    `POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  );
  // A second request shows that the first has reached the server.
  await request('GET', '/api/tasks');
  const ended = stop();
  await waitUntil('nobody listens on the port', () => isRefused(Number(new URL(url).port)));
  assert.equal(child.exitCode, null);
  running.send(body.slice(5));
  const response = await running.next();
  assert.equal(response?.status, 201);
  assert.match(String(response.body), /"Title":"in flight"/);
  assert.equal((await ended).code, 0);
});

test('alerts acknowledged just before shutdown are listed after a restart', async (t) => {
  const cwd = createFolder(t);
  const first = await startProgram(t, ['--profiles', 'X'], { cwd });
  const send = (message: string) => first.request('POST', '/api/alert', { body: { message } });
  const sent = Array.from({ length: 200 }, (_, index) => send(`alert ${index}`));
  const responses = await Promise.all(sent);
  const { code } = await first.stop();
  assert.deepEqual([code, responses.filter(({ status }) => status !== 200)], [0, []]);
  const second = await startProgram(t, ['--profiles', 'X'], { cwd });
  const { json } = await second.request<{ data: { message: string }[] }>('GET', '/api/alerts?count=1000');
  assert.deepEqual(
    json.data.map(({ message }) => message).sort(),
    Array.from({ length: 200 }, (_, index) => `alert ${index}`).sort(),
  );
});

test('tasks of the memory store are lost when the server restarts', async (t) => {
  const settings = { dataDir: createFolder(t) };
  const first = await startApp(t, { settings });
  await first.request('POST', '/api/tasks', { body: { Title: 'x' } });
  await first.close();
  const second = await startApp(t, { settings });
  assert.equal((await second.request('GET', '/api/tasks')).json['total'], 0);
});

const isRefused = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => resolve(true));
    socket.on('connect', () => {
      socket.destroy();
      resolve(false);
    });
  });
