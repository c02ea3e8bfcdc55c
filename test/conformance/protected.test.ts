import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { assertJson, assertUnauthorized } from './support/assertions.ts';
import { createTask, type Task, titlesOf } from './support/tasks.ts';

interface UserTaskList {
  user: string;
  count: number;
  data: Task[];
}

const startProtected = (t: TestContext, length = 0): Promise<TestApp> =>
  startApp(t, {
    settings: { profiles: ['protected-tasks', 'login'] },
    seed: { tasks: Array.from({ length }, (_, index) => ({ Title: `task ${index + 1}` })) },
  });

const listAs = async (app: TestApp, token: string, query = ''): Promise<UserTaskList> => {
  const { status, text, json } = await app.request<UserTaskList>('GET', `/api/tasks${query}`, { token });
  assert.equal(status, 200, text);
  return json;
};

test('GET /api/tasks of the protected variant without a token gets 401 and lists no task', async (t) => {
  const app = await startProtected(t, 1);
  const answer = await app.request('GET', '/api/tasks');
  assertUnauthorized(answer, 'Missing token');
  assert.doesNotMatch(answer.text, /task 1/);
});

test('GET /api/tasks of the protected variant with a token returns 200 with user, count and data, in this order', async (t) => {
  const app = await startProtected(t, 1);
  const answer = await app.request<UserTaskList>('GET', '/api/tasks', { token: await app.login('admin') });
  assertJson(answer, 200);
  assert.deepEqual(Object.keys(answer.json), ['user', 'count', 'data']);
  assert.deepEqual(titlesOf(answer.json), ['task 1']);
});

test('user is the name to which the token was issued', async (t) => {
  const app = await startProtected(t);
  for (const name of ['admin', 'reader'] as const) {
    assert.equal((await listAs(app, await app.login(name))).user, name);
  }
});

test('count is the number of tasks in the protected list', async (t) => {
  const app = await startProtected(t);
  const token = await app.login('reader');
  assert.deepEqual(await listAs(app, token), { user: 'reader', count: 0, data: [] });
  const created = await createTask(app);
  assert.deepEqual(await listAs(app, token), { user: 'reader', count: 1, data: [created] });
});

test('the protected list has all tasks, without a limit', async (t) => {
  const app = await startProtected(t, 120);
  const { count, data } = await listAs(app, await app.login('admin'));
  assert.deepEqual([count, data.length], [120, 120]);
});

test('the protected list ignores filters, valid or not', async (t) => {
  const app = await startProtected(t, 3);
  const token = await app.login('admin');
  for (const query of ['?status=Completed', '?priority=Low&limit=1', '?limit=abc', '?limit=1&limit=2', '?status=']) {
    assert.equal((await listAs(app, token, query)).count, 3, query);
  }
});

test('the other task routes of the protected variant are open and work as usual', async (t) => {
  const app = await startProtected(t);
  const created = await createTask(app, { Title: 'x' });
  assert.deepEqual((await app.request('GET', '/api/tasks/1')).json, created);
  const updated = await app.request('PUT', '/api/tasks/1', { body: { Status: 'Completed' } });
  assertJson(updated, 200);
  assert.equal(updated.json['Status'], 'Completed');
  assertJson(await app.request('POST', '/api/tasks', { body: {} }), 400);
  assertJson(await app.request('GET', '/api/health'), 200);
  assertJson(await app.request('DELETE', '/api/tasks/1'), 200);
  assertJson(await app.request('GET', '/api/tasks/1'), 404);
});
