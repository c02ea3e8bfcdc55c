import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertJson } from './support/assertions.ts';
import { createTask, listTasks, startTasks, titlesOf, updateTask } from './support/tasks.ts';

const mixed = [
  { Title: 'a', Status: 'Pending', Priority: 'Low' },
  { Title: 'b', Status: 'Completed', Priority: 'High' },
  { Title: 'c', Status: 'Pending', Priority: 'High' },
  { Title: 'd', Status: 'Cancelled', Priority: 'Critical' },
  { Title: 'e', Status: 'Pending', Priority: 'High' },
];

const many = Array.from({ length: 60 }, (_, index) => ({ Title: `task ${index + 1}` }));

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
  const app = await startTasks(t, many);
  const { total, count, limit, data } = await listTasks(app);
  assert.deepEqual({ total, count, limit, length: data.length }, { total: 60, count: 50, limit: 50, length: 50 });
  assert.equal(data.at(-1)?.Title, 'task 50');
});

test('limit is the maximum number of tasks in the list, and is echoed', async (t) => {
  const app = await startTasks(t, many);
  for (const limit of [0, 1, 59, 60]) {
    const list = await listTasks(app, `?limit=${limit}`);
    assert.equal(list.limit, limit);
    assert.deepEqual(
      titlesOf(list),
      many.slice(0, limit).map(({ Title }) => Title),
    );
  }
  assert.equal((await listTasks(app, '?limit=61')).limit, 61);
});

test('total counts the matches before the limit, and count the tasks returned', async (t) => {
  const app = await startTasks(t, mixed);
  const expected = [
    { query: '?limit=2', total: 5, count: 2 },
    { query: '?limit=0', total: 5, count: 0 },
    { query: '?status=Pending&limit=2', total: 3, count: 2 },
    { query: '?status=Pending&limit=9', total: 3, count: 3 },
  ];
  for (const { query, total, count } of expected) {
    const list = await listTasks(app, query);
    assert.deepEqual([list.total, list.count, list.data.length], [total, count, count], query);
  }
});

test('status selects the tasks with exactly that status', async (t) => {
  const app = await startTasks(t, mixed);
  assert.deepEqual(titlesOf(await listTasks(app, '?status=Pending')), ['a', 'c', 'e']);
  assert.deepEqual(titlesOf(await listTasks(app, '?status=Completed')), ['b']);
  assert.deepEqual(titlesOf(await listTasks(app, '?status=InProgress')), []);
  await updateTask(app, 1, { Status: 'InProgress' });
  assert.deepEqual(titlesOf(await listTasks(app, '?status=InProgress')), ['a']);
});

test('total counts the matches before the limit, and count counts the returned tasks', async (t) => {
  const app = await startTasks(t, mixed);
  assert.deepEqual(titlesOf(await listTasks(app, '?priority=High')), ['b', 'c', 'e']);
  assert.deepEqual(titlesOf(await listTasks(app, '?priority=Critical')), ['d']);
  assert.deepEqual(titlesOf(await listTasks(app, '?priority=Medium')), []);
});

test('status and priority together select the tasks that match both', async (t) => {
  const app = await startTasks(t, mixed);
  assert.deepEqual(titlesOf(await listTasks(app, '?status=Pending&priority=High')), ['c', 'e']);
  assert.deepEqual(titlesOf(await listTasks(app, '?priority=Critical&status=Pending')), []);
});

test('tasks keep their order of creation, also after updates and deletions', async (t) => {
  const app = await startTasks(t, mixed);
  await updateTask(app, 1, { Title: 'z' });
  await app.request('DELETE', '/api/tasks/2');
  await createTask(app, { Title: 'new' });
  assert.deepEqual(titlesOf(await listTasks(app)), ['z', 'c', 'd', 'e', 'new']);
});
