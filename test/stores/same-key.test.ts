import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';

const skip = toSkipPostgres();

/** Functions that start apps on a store. Requests go to the instances of the store in turn. */
const stores: Record<string, (t: TestContext) => Promise<TestApp[]>> = {
  memory: async (t) => [await startApp(t, { settings: { store: 'memory' } })],
  file: async (t) => [await startApp(t, { settings: { store: 'file' } })],
  'PostgreSQL with two instances': async (t) => {
    const settings = { store: await createDatabase(t), timeZone: 'UTC' };
    return [await startApp(t, { settings }), await startApp(t, { settings })];
  },
  'PostgreSQL without a spool': async (t) => [
    await startApp(t, { settings: { store: await createDatabase(t), timeZone: 'UTC', spool: false } }),
  ],
};

const send = async (apps: readonly TestApp[], path: string, bodies: readonly object[]) =>
  Promise.all(
    bodies.map(async (body, index) => {
      const { request } = apps[index % apps.length] as TestApp;
      const { status, text } = await request('POST', path, { body, headers: { 'Idempotency-Key': 'one' } });
      return [status, text];
    }),
  );

for (const [store, start] of Object.entries(stores)) {
  for (const [what, path, status, body, other] of [
    ['task', '/api/tasks', 201, { Title: 'a' }, { Title: 'b' }],
    ['alert', '/api/alert', 200, { message: 'a' }, { message: 'b' }],
  ] as const) {
    test(`${store}: six simultaneous requests with one Idempotency-Key get equal ${what}`, {
      skip: store.startsWith('PostgreSQL') && skip,
    }, async (t) => {
      const apps = await start(t);
      const responses = await send(apps, path, Array(6).fill(body));
      assert.equal(responses[0]?.[0], status);
      assert.deepEqual(responses, Array(6).fill(responses[0]));
      const count = what === 'task' ? '/api/tasks' : '/api/alerts';
      assert.equal((await apps[0]?.request('GET', count))?.json['count'], 1);
      // Each request waits for the first request, whatever its body.
      const mixed = await send(apps, path, [body, other, body]);
      assert.deepEqual(
        mixed.map(([code]) => code),
        [status, 422, status],
      );
    });
  }
}
