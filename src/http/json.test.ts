import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { loadSettings } from '../config/load.ts';
import { createSettingsSchema } from '../config/schema.ts';
import { type JsonPieces, ownJson, sendJson, sendList, whenReady } from './json.ts';
import { createServer } from './server.ts';

/** Starts a server with one list route. The route sends the pieces as `{"rows":[...],"end":true}`. */
const start = async (t: TestContext, pieces: () => JsonPieces): Promise<string> => {
  const settings = loadSettings(createSettingsSchema([]), {}, {});
  const app = createServer({ ...settings, log: pino({ level: 'silent' }), machine: 'test' });
  t.after(() => app.close());
  app.get('/', (_request, reply) =>
    sendList(reply, { opening: '{"rows":[', pieces: pieces(), closing: '],"end":true}' }),
  );
  app.get('/one', (_request, reply) => whenReady(reply, Promise.resolve({ id: 1 }), (value) => sendJson(reply, value)));
  return app.listen({ host: '127.0.0.1', port: 0 });
};

/** Starts a server with an endless list. Also returns the number of pieces that have been taken from the list. */
const startEndless = async (t: TestContext) => {
  const taken = { pieces: 0, isOver: false };
  function* endless() {
    try {
      for (;;) {
        taken.pieces += 1;
        yield [{ text: 'x'.repeat(64 * 1024) }];
      }
    } finally {
      taken.isOver = true;
    }
  }
  return { url: await start(t, endless), taken };
};

/** Waits up to ten seconds until the condition holds. */
const waitFor = async (holds: () => boolean): Promise<void> => {
  const deadline = performance.now() + 10_000;
  while (!holds() && performance.now() < deadline) await setImmediate();
  assert.ok(holds());
};

test('a list stops being produced while its client does not read, and ends when the client leaves', async (t) => {
  const { url, taken } = await startEndless(t);
  const asked = request(url).end();
  const [response] = await once(asked, 'response');
  response.on('error', () => undefined);
  let [last, turns] = [0, 0];
  await waitFor(() => {
    turns = taken.pieces === last ? turns + 1 : 0;
    last = taken.pieces;
    return last > 1 && turns > 1000;
  });
  // Socket buffers hold a few megabytes. Without back-pressure, the list would have gone on.
  assert.ok(taken.pieces < 1000, String(taken.pieces));
  asked.destroy();
  await waitFor(() => taken.isOver);
});

test('HEAD on a long list produces only its beginning and closes the list', async (t) => {
  const { url, taken } = await startEndless(t);
  const [response] = await once(request(url, { method: 'HEAD' }).end(), 'response');
  response.resume();
  await once(response, 'end');
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
  await waitFor(() => taken.isOver);
  assert.deepEqual([response.statusCode, taken.pieces], [200, 2]);
});

const read = async (url: string): Promise<{ length: string | null; json: unknown }> => {
  const response = await fetch(url);
  return { length: response.headers.get('content-length'), json: await response.json() };
};

const rows = Array.from({ length: 5000 }, (_, id) => ({ id, text: 'x'.repeat(50) }));
const split = (count: number) =>
  Array.from({ length: count }, (_, index) => rows.slice((5000 / count) * index, (5000 / count) * (index + 1)));

test('pieces are joined to one list, and a single piece has a Content-Length', async (t) => {
  for (const count of [1, 2, 10]) {
    const { length, json } = await read(await start(t, () => split(count)));
    assert.deepEqual(json, { rows, end: true });
    assert.equal(length !== null, count === 1);
  }
});

test('pieces that arrive asynchronously are joined to the same list', async (t) => {
  for (const count of [1, 2, 10]) {
    async function* pieces() {
      for (const piece of split(count)) {
        await setImmediate();
        yield piece;
      }
    }
    const { length, json } = await read(await start(t, pieces));
    assert.deepEqual(json, { rows, end: true });
    assert.equal(length !== null, count === 1);
  }
});

test('a list without pieces is empty', async (t) => {
  assert.deepEqual((await read(await start(t, () => []))).json, { rows: [], end: true });
});

test('rows and values with their own JSON are sent unchanged', async (t) => {
  const value = { [ownJson]: '{"a": 1}', a: 2 };
  assert.deepEqual((await read(await start(t, () => [[value, value]]))).json, {
    rows: [{ a: 1 }, { a: 1 }],
    end: true,
  });
  const both = Object.assign([value], { [ownJson]: '3,4' });
  assert.deepEqual((await read(await start(t, () => [both]))).json, { rows: [3, 4], end: true });
});

test('a promised value is sent when the promise resolves', async (t) => {
  assert.deepEqual((await read(`${await start(t, () => [])}/one`)).json, { id: 1 });
});
