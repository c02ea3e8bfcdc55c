import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, assertJson } from './support/assertions.ts';
import { createTask, listTasks, startTasks, titlesOf } from './support/tasks.ts';

const seed = [
  { Title: 'a', Status: 'Pending', Priority: 'Low' },
  { Title: 'b', Status: 'Completed', Priority: 'High' },
];

test('unknown parameters of the task list are ignored, also repeated ones', async (t) => {
  const app = await startTasks(t, seed);
  const queries = ['?x=1', '?x=1&x=2', '?Limit=0', '?limit[]=0', '?__proto__=1', '?constructor=1', '?id=2', '?&=&'];
  for (const query of queries) {
    assert.deepEqual(titlesOf(await listTasks(app, query)), ['a', 'b'], query);
  }
});

test('an empty value in the query of the task list counts as absent', async (t) => {
  const app = await startTasks(t, seed);
  for (const query of ['?limit=', '?limit', '?status=', '?priority=', '?status=&priority=&limit=']) {
    const { limit, ...list } = await listTasks(app, query);
    assert.equal(limit, 50, query);
    assert.equal(list.total, 2, query);
  }
});

test('a repeated parameter of the task list is rejected by name', async (t) => {
  const app = await startTasks(t, seed);
  const queries = [
    ['?limit=1&limit=1', /limit/],
    ['?limit=1&limit=', /limit/],
    ['?status=Pending&status=Pending', /status/],
    ['?priority=Low&limit=1&priority=High', /priority/],
  ] as const;
  for (const [query, name] of queries) {
    assertError(await app.request('GET', `/api/tasks${query}`), 400, name);
  }
});

test('a limit that is not plain decimal digits is rejected by name', async (t) => {
  const app = await startTasks(t, seed);
  const values = ['-1', '1.5', '1.0', '1e3', '+1', '%2B1', '%201', '1%20', '0x10', '%EF%BC%91', '%D9%A3', '1_0', '1,0'];
  for (const value of [...values, 'abc', 'NaN', 'Infinity', 'null', 'true', '%00', '1%00', '[1]', '%zz']) {
    assertError(await app.request('GET', `/api/tasks?limit=${value}`), 400, /limit/);
  }
});

test('a filter value outside the enum matches nothing', async (t) => {
  const app = await startTasks(t, seed);
  for (const value of ['pending', 'PENDING', 'Pending%20', 'Done', 'low', 'Urgent', '__proto__', '%00', 'Pendin']) {
    for (const name of ['status', 'priority']) {
      const answer = await app.request('GET', `/api/tasks?${name}=${value}`);
      assertJson(answer, 200);
      assert.equal(answer.text, '{"total":0,"count":0,"limit":50,"data":[]}');
    }
  }
});

test('the limit of the task list has no upper bound, and all tasks come in one response', async (t) => {
  const length = 3000;
  const Description = 'long '.repeat(200);
  const app = await startTasks(
    t,
    Array.from({ length }, (_, index) => ({ Title: `task ${index}`, Description })),
  );
  for (const limit of ['3000', '1000000000', '9007199254740993', '9'.repeat(400)]) {
    const { total, count, data } = await listTasks(app, `?limit=${limit}`);
    assert.deepEqual([total, count, data.length], [length, length, length]);
    assert.equal(data.at(-1)?.Title, `task ${length - 1}`);
  }
});

test('GET /api/tasks returns 200 with total, count, limit and data, in this order', async (t) => {
  const app = await startTasks(t);
  const empty = await app.request('GET', '/api/tasks');
  assertJson(empty, 200);
  assert.equal(empty.text, '{"total":0,"count":0,"limit":50,"data":[]}');
  await createTask(app);
  const { json } = await app.request('GET', '/api/tasks');
  assert.deepEqual(Object.keys(json), ['total', 'count', 'limit', 'data']);
});

test('the task list has at most 50 tasks by default', async (t) => {
  const app = await startTasks(
    t,
    Array.from({ length: 60 }, (_, index) => ({ Title: `task ${index + 1}` })),
  );
  const { total, count, limit, data } = await listTasks(app);
  assert.deepEqual({ total, count, limit, length: data.length }, { total: 60, count: 50, limit: 50, length: 50 });
  assert.equal(data.at(-1)?.Title, 'task 50');
});
