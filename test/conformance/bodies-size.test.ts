import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { openConnection } from '../support/connection.ts';
import { assertError, assertJson, assertUnchanged } from './support/assertions.ts';
import { send, token, type WritingRoute, writingRoutes } from './support/writing-routes.ts';

const mebibyte = 1024 * 1024;
const seed = { tasks: [{ Title: 'seeded' }] };

/** Returns the route's body, padded with an unknown field to exactly `size` bytes. */
const fill = ({ body }: WritingRoute, size: number, character = 'x'): string => {
  const empty = Buffer.byteLength(JSON.stringify({ ...body, filling: '' }));
  const filling = character.repeat((size - empty) / Buffer.byteLength(character));
  return JSON.stringify({
    ...body,
    filling: filling + 'x'.repeat(size - empty - Buffer.byteLength(filling)),
  });
};

test('a body of exactly 1 MiB is accepted', async (t) => {
  const app = await startApp(t, { seed });
  for (const route of writingRoutes) {
    assertJson(await send(app, route, fill(route, mebibyte)), route.accepted);
  }
});

test('a body of more than 1 MiB gets 413 {error} and changes nothing', async (t) => {
  const app = await startApp(t, { seed });
  for (const route of writingRoutes) {
    await assertUnchanged(app, { path: route.list ?? '/api/tasks', token }, async () => {
      for (const size of [mebibyte + 1, 3 * mebibyte]) {
        assertError(await send(app, route, fill(route, size)), 413, /./);
      }
    });
  }
});

test('the size of a body is counted in bytes, not characters', async (t) => {
  const app = await startApp(t, { seed });
  for (const route of writingRoutes) {
    assertJson(await send(app, route, fill(route, mebibyte, '漢')), route.accepted);
    assertError(await send(app, route, fill(route, mebibyte + 1, '漢')), 413, /./);
  }
});

test('a chunked body is rejected once it exceeds 1 MiB', async (t) => {
  const app = await startApp(t, { settings: { profiles: ['tasks'] } });
  await assertUnchanged(app, { path: '/api/tasks' }, async () => {
    const connection = openConnection(app.url);
    connection.send('POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
    for (const chunk of ['{"Title":"', 'x'.repeat(mebibyte / 2), 'x'.repeat(mebibyte / 2)]) {
      connection.send(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    }
    const refused = await connection.next();
    assert.equal(refused?.status, 413);
    assert.equal(refused.headers.get('content-type'), 'application/json; charset=utf-8');
    connection.destroy();
  });
});
