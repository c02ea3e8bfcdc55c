import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, assertJson, assertUnauthorized } from './support/assertions.ts';
import { addItem, createSeed, listItems, startItems, token } from './support/items.ts';

test('GET /api/items without a token gets 401 and lists no item', async (t) => {
  const app = await startItems(t, [{ name: 'a' }]);
  assertUnauthorized(await app.request('GET', '/api/items'), 'Missing token');
  assertUnauthorized(await app.request('GET', '/api/items?page=0'), 'Missing token');
});

test('GET /api/items returns 200 with data, page, size and total, in this order', async (t) => {
  const app = await startItems(t);
  const answer = await app.request('GET', '/api/items', { token });
  assertJson(answer, 200);
  assert.equal(answer.text, '{"data":[],"page":1,"size":20,"total":0}');
});

test('a listed item has id, name and status, in this order', async (t) => {
  const app = await startItems(t, [{ id: 7, name: 'a', status: 'active' }]);
  const { text } = await app.request('GET', '/api/items', { token });
  assert.equal(text, '{"data":[{"id":7,"name":"a","status":"active"}],"page":1,"size":20,"total":1}');
});

test('the item list defaults to the first page of 20 items', async (t) => {
  const app = await startItems(t, createSeed(25));
  const { data, page, size, total } = await listItems(app);
  assert.deepEqual([data.length, page, size, total], [20, 1, 20, 25]);
  assert.equal(data.at(-1)?.name, 'item 20');
});

test('page and size select a part of the items and are echoed; total counts all items', async (t) => {
  const app = await startItems(t, createSeed(5));
  const expected = [
    { page: 1, size: 2, names: ['item 1', 'item 2'] },
    { page: 2, size: 2, names: ['item 3', 'item 4'] },
    { page: 3, size: 2, names: ['item 5'] },
    { page: 2, size: 4, names: ['item 5'] },
    { page: 1, size: 5, names: ['item 1', 'item 2', 'item 3', 'item 4', 'item 5'] },
  ];
  for (const { names, ...asked } of expected) {
    const { data, ...rest } = await listItems(app, `?page=${asked.page}&size=${asked.size}`);
    assert.deepEqual(
      data.map(({ name }) => name),
      names,
    );
    assert.deepEqual(rest, { ...asked, total: 5 });
  }
});

test('a page past the end, or of size 0, is empty', async (t) => {
  const app = await startItems(t, createSeed(5));
  for (const query of ['?page=2', '?page=4&size=2', '?size=0', '?size=0&page=3', `?page=${'9'.repeat(30)}`]) {
    const { data, total } = await listItems(app, query);
    assert.deepEqual([data, total], [[], 5], query);
  }
});

test('unknown parameters of the item list are ignored, and an empty value counts as absent', async (t) => {
  const app = await startItems(t, createSeed(25));
  for (const query of ['?x=1&x=2', '?Page=2', '?page=', '?size=', '?page=&size=', '?name=item', '?__proto__=1']) {
    const { page, size, data } = await listItems(app, query);
    assert.deepEqual([page, size, data.length], [1, 20, 20], query);
  }
});

test('a page or size of items that is not plain decimal digits, or is repeated, is rejected by name', async (t) => {
  const app = await startItems(t);
  for (const value of [
    '-1',
    '1.5',
    '1e3',
    '+1',
    '%2B1',
    '%201',
    '0x1',
    '%EF%BC%91',
    'abc',
    '%00',
    'NaN',
    '1&NAME=1',
    '&NAME=1',
  ]) {
    for (const name of ['page', 'size']) {
      const path = `/api/items?${name}=${value.replace('NAME', name)}`;
      assertError(await app.request('GET', path, { token }), 400, new RegExp(name));
    }
  }
});

test('page 0 of items is rejected, size 0 is accepted', async (t) => {
  const app = await startItems(t);
  for (const page of ['0', '00']) {
    assertError(await app.request('GET', `/api/items?page=${page}`, { token }), 400, /page/);
  }
  assert.equal((await listItems(app, '?size=0')).size, 0);
});

test('the page size of items has no upper limit', async (t) => {
  const app = await startItems(t, createSeed(900));
  for (const size of ['900', '1000000000', '9007199254740993', '9'.repeat(400)]) {
    assert.equal((await listItems(app, `?size=${size}`)).data.length, 900, size);
  }
});

test('items keep their order of creation', async (t) => {
  const app = await startItems(t, [{ name: 'z', id: 900 }]);
  for (const name of ['y', 'a', 'x']) await addItem(app, { name });
  const { data } = await listItems(app);
  assert.deepEqual(
    data.map(({ name }) => name),
    ['z', 'y', 'a', 'x'],
  );
});
