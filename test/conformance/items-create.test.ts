import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { keepsTasks } from '../support/test-store.ts';
import { assertError, assertJson, assertUnauthorized, assertUnchanged } from './support/assertions.ts';
import { addItem, createSeed, listItems, startItems, token } from './support/items.ts';

const list = { path: '/api/items', token };

test('POST /api/items without a token gets 401, with any body, and creates no item', async (t) => {
  const app = await startItems(t);
  await assertUnchanged(app, list, async () => {
    for (const body of [{ name: 'a' }, {}, '{', undefined]) {
      assertUnauthorized(await app.request('POST', '/api/items', { body }), 'Missing token');
    }
  });
});

test('POST /api/items returns 201 with id, name, status `created` and message, in this order', async (t) => {
  const app = await startItems(t);
  const answer = await app.request('POST', '/api/items', { body: { name: 'a' }, token });
  assertJson(answer, 201);
  assert.deepEqual(Object.keys(answer.json), ['id', 'name', 'status', 'message']);
  assert.equal(answer.json['name'], 'a');
  assert.equal(answer.json['status'], 'created');
  assert.equal(typeof answer.json['message'], 'string');
});

test('the list shows a created item without the message of the creation', async (t) => {
  const app = await startItems(t);
  const { id } = await addItem(app, { name: 'a' });
  assert.deepEqual((await listItems(app)).data, [{ id, name: 'a', status: 'created' }]);
});

test('the name of an item is kept as sent', async (t) => {
  const app = await startItems(t);
  const names = ['  a ', ' ', 'x'.repeat(5000), '😀', '漢字', 'e\u0301', '\u0000', '"\\', '__proto__', 'constructor'];
  for (const name of names) assert.equal((await addItem(app, { name })).name, name);
  assert.deepEqual(
    (await listItems(app)).data.map(({ name }) => name),
    names,
  );
});

test('POST of an item without a name, or with an empty one, gets 400 {error} and creates no item', async (t) => {
  const app = await startItems(t);
  await assertUnchanged(app, list, async () => {
    for (const body of [{}, { name: '' }, { title: 'a' }]) {
      assertError(await app.request('POST', '/api/items', { body, token }), 400, /name/);
    }
  });
});

test('both roles can list and create items', async (t) => {
  const app = await startApp(t, { settings: { profiles: ['items', 'login'] } });
  for (const name of ['admin', 'reader'] as const) {
    const options = { token: await app.login(name) };
    assertJson(await app.request('POST', '/api/items', { body: { name }, ...options }), 201);
    assertJson(await app.request('GET', '/api/items', options), 200);
  }
});

test('items are lost when the server restarts, even with the same data directory', {
  skip: keepsTasks,
}, async (t) => {
  const first = await startItems(t);
  await addItem(first, { name: 'a' });
  await first.close();
  const settings = { profiles: ['items'], dataDir: `${first.folder}/data` };
  const second = await startApp(t, { settings });
  assert.equal((await listItems(second)).total, 0);
});

test('an item name that is null or not a string is rejected and creates no item', async (t) => {
  const app = await startItems(t);
  await assertUnchanged(app, list, async () => {
    for (const name of [null, 0, 1, true, false, [], ['a'], {}, { a: 1 }]) {
      assertError(await app.request('POST', '/api/items', { body: { name }, token }), 400, /name/);
    }
  });
});

test('other fields of an item are ignored, and field names are case-sensitive', async (t) => {
  const app = await startItems(t);
  const created = await addItem(app, { name: 'a', id: 5000, status: 'active', constructor: 1 });
  assert.equal(created.status, 'created');
  assert.ok(created.id < 1000);
  assertError(await app.request('POST', '/api/items', { body: { Name: 'a' }, token }), 400, /name/);
});

test('an item id is a random whole number from 0 to 999', async (t) => {
  const app = await startItems(t);
  const ids: number[] = [];
  for (let count = 0; count < 50; count++) ids.push((await addItem(app, { name: 'a' })).id);
  assert.ok(ids.every((id) => Number.isInteger(id) && id >= 0 && id < 1000));
  assert.notDeepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  );
});

test('a new item gets an unused id until all thousand are taken', async (t) => {
  const app = await startItems(t, createSeed(980));
  for (let count = 0; count < 20; count++) await addItem(app, { name: 'a' });
  const { data } = await listItems(app, '?size=1000');
  assert.equal(new Set(data.map(({ id }) => id)).size, 1000);
});

test('once all thousand ids are taken, items are still created with repeated ids', async (t) => {
  const app = await startItems(t, createSeed(1000));
  const { id } = await addItem(app, { name: 'a' });
  assert.ok(Number.isInteger(id) && id >= 0 && id < 1000);
  assert.equal((await listItems(app)).total, 1001);
});
