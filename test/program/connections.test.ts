import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { type Connection, openConnection } from '../support/connection.ts';
import { createFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';

const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

const open = (t: TestContext, url: string, text = ''): Connection => {
  const connection = openConnection(url);
  t.after(connection.destroy);
  connection.send(text);
  return connection;
};

test('connections above the limit get 503 and are closed, while /health and open connections are served', async (t) => {
  const { url } = await startApp(t, { settings: { maxConnections: 3 } });
  const kept: Connection[] = [];
  for (let index = 0; index < 3; index += 1) {
    const connection = open(t, url, ask('/api/tasks'));
    const response = await connection.next();
    assert.deepEqual([response?.status, response?.headers.get('connection')], [200, 'keep-alive']);
    kept.push(connection);
  }
  const [refused] = (await open(t, url, ask('/api/tasks')).closed()).responses;
  assert.equal(refused?.status, 503);
  assert.deepEqual([refused.headers.get('connection'), refused.headers.get('retry-after')], ['close', '1']);
  assert.match(String(refused.body), /^\{"error":"[^"]+"\}$/);
  const [health] = (await open(t, url, ask('/health')).closed()).responses;
  assert.deepEqual([health?.status, health?.headers.get('connection')], [200, 'close']);
  kept[0]?.send(ask('/api/tasks'));
  assert.equal((await kept[0]?.next())?.status, 200);
});

test('connections far above the limit are closed immediately, and later ones are served', async (t) => {
  const { url } = await startProgram(t, ['--profiles', 'L', '--max-connections', '1'], {
    cwd: createFolder(t),
  });
  const crowd = Array.from({ length: 150 }, () => open(t, url));
  const closed = crowd.map((connection) => connection.closed());
  assert.equal((await Promise.race(closed)).text, '');
  for (const connection of crowd) connection.destroy();
  await Promise.all(closed);
  await waitUntil('another connection is served', async () => {
    const connection = open(t, url, ask('/api/tasks'));
    return (await connection.next())?.status === 200;
  });
});

test('on shutdown, silent connections are closed while a busy one is still served', async (t) => {
  const { url, request, child, stop } = await startProgram(t, ['--profiles', 'T'], { cwd: createFolder(t) });
  const body = '{"Title":"in flight"}';
  const head = `POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`;
  const silent = open(t, url);
  const busy = open(t, url, head);
  // The response shows that the previous two connections have reached the server.
  await request('GET', '/api/tasks');
  const ended = stop();
  assert.equal((await silent.closed()).text, '');
  assert.equal(child.exitCode, null);
  busy.send(body);
  assert.deepEqual(
    (await busy.closed()).responses.map(({ status }) => status),
    [201],
  );
  assert.equal((await ended).code, 0);
});

test('a path in the public folder that is not a regular file gets 404 immediately', async (t) => {
  const cwd = createFolder(t);
  mkdirSync(join(cwd, 'pages', 'index.html'), { recursive: true });
  writeFileSync(join(cwd, 'pages', 'page.html'), 'page');
  try {
    execFileSync('/usr/bin/mkfifo', [join(cwd, 'pages', 'pipe')]);
  } catch {
    return t.skip('mkfifo is not installed');
  }
  const { request } = await startApp(t, { settings: { publicDir: join(cwd, 'pages') } });
  for (const path of ['/docs/pipe', '/docs/', '/docs/index.html/']) {
    assert.equal((await request('GET', path)).status, 404, path);
  }
  // The path of a folder without its slash redirects, whatever the name of the folder.
  assert.equal((await request('GET', '/docs/index.html')).status, 301);
  assert.equal((await request('GET', '/docs/page.html')).text, 'page');
});
