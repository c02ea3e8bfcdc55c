import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../support/app.ts';
import { startProgram } from '../support/program.ts';

const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

const open = async (t: TestContext, url: string, text: string): Promise<Socket> => {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname.replace(/[[\]]/g, '')).setEncoding('latin1');
  socket.on('error', () => undefined);
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  return socket;
};

/** What comes on the socket until it is closed. */
const readAll = async (socket: Socket): Promise<string> => {
  let text = '';
  socket.on('data', (data) => {
    text += data;
  });
  if (!socket.closed) await once(socket, 'close');
  return text;
};

test('connections past the limit are told so and closed; health is still answered, and what is open is served', async (t) => {
  const { url, stop } = await startProgram(t, ['--profiles', 'T,M', '--max-connections', '3'], {
    cwd: createFolder(t),
  });
  const kept: Socket[] = [];
  for (let index = 0; index < 3; index += 1) {
    const socket = await open(t, url, ask('/api/tasks'));
    const [answer] = (await once(socket, 'data')) as [string];
    assert.match(answer, /^HTTP\/1\.1 200 .*\r\nConnection: keep-alive\r\n/s);
    kept.push(socket);
  }
  const refused = await readAll(await open(t, url, ask('/api/tasks')));
  assert.match(refused, /^HTTP\/1\.1 503 .*\r\nconnection: close\r\n.*\{"error":"[^"]+"\}$/is);
  assert.match(refused, /\r\nretry-after: 1\r\n/i);
  assert.match(
    await readAll(await open(t, url, ask('/health'))),
    /^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is,
  );
  kept[0]?.write(ask('/api/tasks'));
  assert.match(String(await once(kept[0] as Socket, 'data')), /^HTTP\/1\.1 200 /);
  assert.equal((await stop()).code, 0);
});

test('far past the limit connections are closed at once, and afterwards others are served', async (t) => {
  const { url } = await startProgram(t, ['--profiles', 'L', '--max-connections', '1'], {
    cwd: createFolder(t),
  });
  const crowd = await Promise.all(Array.from({ length: 150 }, () => open(t, url, '')));
  const closed = crowd.map((socket) => readAll(socket));
  assert.equal(await Promise.race(closed), '');
  for (const socket of crowd) socket.destroy();
  await Promise.all(closed);
  const deadline = Date.now() + 10_000;
  let status = 0;
  while (status !== 200 && Date.now() < deadline) {
    status = await fetch(`${url}/api/tasks`).then(
      (answer) => answer.status,
      () => 0,
    );
  }
  assert.equal(status, 200);
});

test('at the end, connections on which nothing came are closed while a busy one is still served', async (t) => {
  const { url, child, stop } = await startProgram(t, ['--profiles', 'T'], { cwd: createFolder(t) });
  const body = '{"Title":"in flight"}';
  const head = `POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`;
  const silent = await open(t, url, '');
  const busy = await open(t, url, head);
  // An answered request shows that the two before it have reached the server.
  await fetch(`${url}/api/tasks`);
  const ended = stop();
  assert.equal(await readAll(silent), '');
  assert.equal(child.exitCode, null);
  busy.write(body);
  assert.match(await readAll(busy), /^HTTP\/1\.1 201 /);
  assert.equal((await ended).code, 0);
});

test('what is no regular file in the public folder is not there, and keeps nothing waiting', async (t) => {
  const cwd = createFolder(t);
  mkdirSync(join(cwd, 'pages', 'index.html'), { recursive: true });
  writeFileSync(join(cwd, 'pages', 'page.html'), 'page');
  try {
    execFileSync('/usr/bin/mkfifo', [join(cwd, 'pages', 'pipe')]);
  } catch {
    return t.skip('there is no program `mkfifo`');
  }
  const { url, stop } = await startProgram(t, ['--profiles', 'L', '--public-dir', 'pages'], { cwd });
  for (const path of ['/docs/pipe', '/docs/', '/docs/index.html', '/docs/index.html/']) {
    assert.equal((await fetch(`${url}${path}`)).status, 404, path);
  }
  assert.equal(await (await fetch(`${url}/docs/page.html`)).text(), 'page');
  assert.equal((await stop()).code, 0);
});
