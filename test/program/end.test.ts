import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createFolder } from '../support/app.ts';
import { startProgram } from '../support/program.ts';

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`on ${signal} the program ends with exit code 0`, async (t) => {
    const { stop } = await startProgram(t, [], { cwd: createFolder(t) });
    const { code, signal: killedBy } = await stop(signal);
    assert.deepEqual([code, killedBy], [0, null]);
  });
}

test('a request that is running at the end is finished, new connections are refused', async (t) => {
  const { url, child, stop } = await startProgram(t, ['--profiles', 'T'], { cwd: createFolder(t) });
  const { port } = new URL(url);
  const body = '{"Title":"in flight"}';
  const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8');
  socket.write(
    `POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  );
  await once(socket, 'connect');
  // A second request shows that the first has reached the server.
  await fetch(`${url}/api/tasks`);
  const ended = stop();
  await refused(Number(port));
  assert.equal(child.exitCode, null);
  socket.write(body.slice(5));
  const [answer] = (await once(socket, 'data')) as [string];
  assert.match(answer, /^HTTP\/1\.1 201 Created/);
  assert.match(answer, /"Title":"in flight"/);
  assert.equal((await ended).code, 0);
});

test('alerts acknowledged just before the end are there after a restart', async (t) => {
  const cwd = createFolder(t);
  const first = await startProgram(t, ['--profiles', 'X'], { cwd });
  const send = (message: string) =>
    fetch(`${first.url}/api/alert`, { method: 'POST', body: JSON.stringify({ message }) });
  const sent = Array.from({ length: 200 }, (_, index) => send(`alert ${index}`));
  const answers = await Promise.all(sent);
  const { code } = await first.stop();
  assert.deepEqual([code, answers.every(({ ok }) => ok)], [0, true]);
  const second = await startProgram(t, ['--profiles', 'X'], { cwd });
  const { data } = (await (await fetch(`${second.url}/api/alerts?count=1000`)).json()) as {
    data: { message: string }[];
  };
  assert.deepEqual(
    data.map(({ message }) => message).sort(),
    Array.from({ length: 200 }, (_, index) => `alert ${index}`).sort(),
  );
});

test('tasks and items are gone after a restart', async (t) => {
  const cwd = createFolder(t);
  const first = await startProgram(t, ['--profiles', 'T'], { cwd });
  await fetch(`${first.url}/api/tasks`, { method: 'POST', body: '{"Title":"x"}' });
  await first.stop();
  const second = await startProgram(t, ['--profiles', 'T'], { cwd });
  assert.match(await (await fetch(`${second.url}/api/tasks`)).text(), /"total":0/);
});

/** Waits until nobody listens on the port. */
const refused = async (port: number): Promise<void> => {
  const deadline = Date.now() + 5000;
  while (Date.now() < deadline) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise((resolve) => {
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    });
    socket.destroy();
    if (!isOpen) return;
  }
  assert.fail('the port is still open');
};
