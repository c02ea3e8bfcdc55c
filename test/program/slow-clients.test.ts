import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../support/app.ts';
import { startProgram } from '../support/program.ts';

/** How many there are of each kind. */
const count = 50;

const headers = 'POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\nX-Slow: ';

/** Sends the text at once, then a zero now and then, and resolves to the answer when the server hangs up. */
const drip = async (t: TestContext, port: number, text: string): Promise<string> => {
  const socket: Socket = connect(port, '127.0.0.1').setEncoding('latin1');
  const timer = setInterval(() => socket.write('0'), 100);
  t.after(() => socket.destroy());
  let answer = '';
  socket.on('data', (data) => {
    answer += data;
  });
  // What is sent after the server has hung up may come back as a reset.
  socket.on('error', () => undefined);
  socket.write(text);
  await once(socket, 'close');
  clearInterval(timer);
  return answer;
};

test('clients that send headers or bodies a byte at a time are told 408 and hung up on; others are served', async (t) => {
  const limits = ['--headers-timeout', '1', '--request-timeout', '2'];
  const { url, stop } = await startProgram(t, ['--profiles', 'T,M', ...limits], { cwd: createFolder(t) });
  const port = Number(new URL(url).port);
  const slow = Array.from({ length: count }, () => [
    drip(t, port, headers),
    drip(t, port, `${headers}\r\n\r\n{"Title":"`),
    drip(t, port, `${headers}\r\nTransfer-Encoding: chunked\r\n\r\n`.replace('Content-Length: 1000\r\n', '')),
  ]).flat();
  let isOver = false;
  const all = Promise.all(slow).finally(() => {
    isOver = true;
  });
  while (!isOver) assert.equal((await fetch(`${url}/health`)).status, 200);
  for (const answer of await all) {
    assert.match(answer, /^HTTP\/1\.1 408 /);
    assert.match(answer, /\r\nConnection: close\r\n/i);
    assert.match(answer, /\{"error":"[^"]+"\}$/);
  }
  assert.match(await (await fetch(`${url}/api/tasks`)).text(), /"total":0/);
  assert.equal((await stop()).code, 0);
});

test('a connection on which nothing comes is hung up on', async (t) => {
  const { url } = await startProgram(t, ['--profiles', 'L', '--headers-timeout', '1'], {
    cwd: createFolder(t),
  });
  const socket = connect(Number(new URL(url).port), '127.0.0.1').resume();
  await once(socket, 'close');
});
