import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { fastify } from 'fastify';
import { createRequest } from '../../../test/support/app.ts';
import { sendJson, sendJsonList } from './json-list.ts';

/** A server whose answer has no end, and how many pieces of it were asked for. */
const startEndless = async (t: TestContext) => {
  const drawn = { pieces: 0, isOver: false };
  function* rest(): Generator<string> {
    try {
      for (;;) {
        drawn.pieces += 1;
        yield 'x'.repeat(64 * 1024);
      }
    } finally {
      drawn.isOver = true;
    }
  }
  const app = fastify();
  app.get('/', (_request, reply) => sendJson(reply, '[', rest()));
  t.after(() => app.close());
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }), drawn };
};

/** Waits until the condition holds, which it must within ten seconds. */
const waitFor = async (holds: () => boolean): Promise<void> => {
  const deadline = performance.now() + 10_000;
  while (!holds() && performance.now() < deadline) await setImmediate();
  assert.ok(holds());
};

test('a client that does not read stops the making of its answer, and one that leaves ends it', async (t) => {
  const { url, drawn } = await startEndless(t);
  const asked = request(url).end();
  const [answer] = await once(asked, 'response');
  answer.on('error', () => undefined);
  let [last, turns] = [0, 0];
  await waitFor(() => {
    turns = drawn.pieces === last ? turns + 1 : 0;
    last = drawn.pieces;
    return last > 1 && turns > 1000;
  });
  // What sockets hold is some megabytes; an answer without end would have gone on.
  assert.ok(drawn.pieces < 1000, String(drawn.pieces));
  asked.destroy();
  await waitFor(() => drawn.isOver);
});

test('HEAD makes nothing of a long answer but its start', async (t) => {
  const { url, drawn } = await startEndless(t);
  const [answer] = await once(request(url, { method: 'HEAD' }).end(), 'response');
  answer.resume();
  await once(answer, 'end');
  assert.deepEqual([answer.statusCode, drawn.pieces], [200, 0]);
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
});

test('rows of several pieces come as one list', async (t) => {
  const app = fastify();
  const rows = Array.from({ length: 5000 }, (_, id) => ({ id, text: 'x'.repeat(50) }));
  app.get('/', (_request, reply) => sendJsonList(reply, '{"rows":[', rows, '],"end":true}'));
  assert.deepEqual((await createRequest(t, app)('GET', '/')).json, { rows, end: true });
});
