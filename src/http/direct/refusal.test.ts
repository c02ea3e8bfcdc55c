import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createAnswerWriter } from './answer.ts';
import { createRefusal } from './refusal.ts';

const start = async (t: TestContext, isLagging: boolean, isWelcome: boolean): Promise<string> => {
  const refuse = createRefusal({
    write: createAnswerWriter(['content-type', 'application/json']),
    isLagging: () => isLagging,
    isWelcome: () => isWelcome,
  });
  const server = createServer((request, response) => {
    if (!refuse(request, response)) response.end('passed on');
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const ask = async (url: string, method = 'GET') => {
  const answer = await fetch(url, { method, headers: { connection: 'close' } });
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), text: await answer.text() };
};

test('while the program lags, requests are 503 with Retry-After', async (t) => {
  const url = await start(t, true, true);
  for (const [path, method] of [
    ['/api/tasks?a=%41', 'GET'],
    ['/nowhere', 'PUT'],
  ] as const) {
    const { status, retryAfter, text } = await ask(`${url}${path}`, method);
    assert.deepEqual([status, retryAfter], [503, '1']);
    assert.match(text, /^\{"error":"[^"]+"\}$/);
  }
});

test('health routes, OPTIONS, and paths that may not be decodable are passed on all the same', async (t) => {
  const url = await start(t, true, true);
  for (const path of ['/health', '/api/health?x', '/ready', '/api/tasks/%31']) {
    assert.equal((await ask(`${url}${path}`)).text, 'passed on', path);
  }
  assert.equal((await ask(`${url}/api/tasks`, 'OPTIONS')).text, 'passed on');
});

test('what has no business here, and all while nothing lags, is passed on', async (t) => {
  for (const [isLagging, isWelcome] of [
    [true, false],
    [false, true],
  ] as const) {
    assert.equal((await ask(`${await start(t, isLagging, isWelcome)}/api/tasks`)).text, 'passed on');
  }
});
