import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { openConnection } from '../support/connection.ts';
import { startProgram } from '../support/program.ts';
import type { HttpResponse } from '../support/response.ts';

/** Number of clients of each kind. */
const count = 50;

const headers = 'POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\nX-Slow: ';

/**
 * Sends the text in one piece, followed by single zeros. Resolves to the response when the server closes the
 * connection.
 */
const drip = async (t: TestContext, url: string, text: string): Promise<HttpResponse | undefined> => {
  const connection = openConnection(url);
  const timer = setInterval(() => connection.send('0'), 100);
  t.after(connection.destroy);
  connection.send(text);
  const { responses } = await connection.closed();
  clearInterval(timer);
  return responses[0];
};

test('clients that send headers or bodies byte by byte get 408 and are disconnected, while others are served', async (t) => {
  const limits = ['--headers-timeout', '1', '--request-timeout', '2'];
  const { url, request, stop } = await startProgram(t, ['--profiles', 'T,M', ...limits]);
  const slow = Array.from({ length: count }, () => [
    drip(t, url, headers),
    drip(t, url, `${headers}\r\n\r\n{"Title":"`),
    drip(t, url, `${headers}\r\nTransfer-Encoding: chunked\r\n\r\n`.replace('Content-Length: 1000\r\n', '')),
  ]).flat();
  let isOver = false;
  const all = Promise.all(slow).finally(() => {
    isOver = true;
  });
  while (!isOver) assert.equal((await request('GET', '/health')).status, 200);
  for (const response of await all) {
    assert.deepEqual([response?.status, response?.headers.get('connection')], [408, 'close']);
    assert.match(String(response?.body), /^\{"error":"[^"]+"\}$/);
  }
  assert.equal((await request('GET', '/api/tasks')).json['total'], 0);
  assert.equal((await stop()).code, 0);
});

test('a silent connection is closed', async (t) => {
  const { url } = await startApp(t, { settings: { headersTimeout: 1 } });
  await openConnection(url).closed();
});
