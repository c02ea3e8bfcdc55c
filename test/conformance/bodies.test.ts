import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { assertError, assertJson, assertUnchanged } from './support/assertions.ts';
import { send, token, writingRoutes } from './support/writing-routes.ts';

const start = (t: TestContext): Promise<TestApp> =>
  startApp(t, {
    seed: { tasks: [{ Title: 'seeded' }], simpleTasks: [{ title: 'seeded' }], items: [{ name: 'seeded' }] },
  });

/** Asserts that each route rejects each body with one {error} and changes nothing. */
const assertRefused = async (t: TestContext, bodies: readonly unknown[], status = 400): Promise<void> => {
  const app = await start(t);
  for (const route of writingRoutes) {
    await assertUnchanged(app, { path: route.list ?? '/api/tasks', token }, async () => {
      for (const body of bodies) assertError(await send(app, route, body), status, /./);
    });
  }
};

test('a body that is not JSON is rejected', async (t) => {
  const texts = ['{', '}', '{"Title":', '{"Title":"x"', '{"Title":"x",}', "{'Title':'x'}", '{Title:"x"}', 'Title=x'];
  await assertRefused(t, [
    ...texts,
    '{"Title":"x"}}',
    '{"Title":"x"} x',
    '{"a":1}{"a":2}',
    'undefined',
    'NaN',
    '\u0000',
  ]);
});

test('a body with invalid JSON syntax is rejected: raw control characters, comments, bad escapes', async (t) => {
  await assertRefused(t, [
    '{"Title":"a\nb"}',
    '{"Title":"a\u0000b"}',
    '{"Title":"x"/**/}',
    '{"Title":"\\x41"}',
    '{"n":01}',
  ]);
});

test('a body that is not valid UTF-8 is rejected', async (t) => {
  const quoted = (...bytes: number[]) =>
    Buffer.concat([Buffer.from('{"Title":"'), Buffer.from(bytes), Buffer.from('"}')]);
  await assertRefused(t, [
    quoted(0xff),
    quoted(0xc3),
    quoted(0xc0, 0xaf),
    quoted(0xed, 0xa0, 0x80),
    quoted(0xe4),
    quoted(0xf5, 0x80, 0x80, 0x80),
    Buffer.from('{"Title":"x"}', 'utf16le'),
  ]);
});

test('a JSON body that is not an object is rejected', async (t) => {
  await assertRefused(t, ['[]', '[{"Title":"x"}]', '1', '-0', '"x"', '""', 'null', 'true', 'false']);
});

test('an empty body is rejected', async (t) => {
  await assertRefused(t, ['', undefined, Buffer.alloc(0), ' ', '\n']);
});

test('a body that would reach Object.prototype is rejected', async (t) => {
  await assertRefused(t, ['{"__proto__":{"Title":"x"}}', '{"a":{"__proto__":1}}', '{"constructor":{"prototype":{}}}']);
  assert.equal('Title' in {}, false);
});

test('a route that needs no body ignores any body', async (t) => {
  const { request } = await start(t);
  for (const body of ['{', '[]', 'x=y', Buffer.from([0xff])]) {
    const { status, json } = await request('DELETE', '/api/tasks/77', { body });
    assert.deepEqual([status, json], [404, { error: 'Task with Id=77 not found' }], String(body));
  }
  const { status } = await request('DELETE', '/api/tasks/1', { body: '{"__proto__":1}' });
  assert.equal(status, 200);
});

test('a body is read as JSON with any Content-Type', async (t) => {
  const app = await start(t);
  const types = ['application/x-www-form-urlencoded', 'text/plain', 'application/json; charset=latin1', 'nonsense', ''];
  for (const route of writingRoutes) {
    for (const type of types) assertJson(await send(app, route, route.body, { 'content-type': type }), route.accepted);
    assertJson(await send(app, route, JSON.stringify(route.body)), route.accepted);
  }
});

test('deeply nested values in an unknown field are ignored', async (t) => {
  const app = await start(t);
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  for (const route of writingRoutes) {
    const body = JSON.stringify(route.body).replace(/}$/, `,"x":${deep}}`);
    assertJson(await send(app, route, body), route.accepted);
  }
});
