import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, assertJson, assertUnchanged } from './support/assertions.ts';
import { addSimpleTask, listSimpleTasks, startSimpleTasks } from './support/simple-tasks.ts';

test('a trailing slash on the path of a simple task route is ignored', async (t) => {
  const app = await startSimpleTasks(t);
  assertJson(await app.request('POST', '/api/tasks/', { body: { title: 'a' } }), 201);
  const list = await app.request('GET', '/api/tasks/');
  assertJson(list, 200);
  assert.equal(list.text, (await app.request('GET', '/api/tasks')).text);
  assert.equal((await app.request('GET', '/api/tasks/?x=1')).text, list.text);
  const task = await app.request('GET', '/api/tasks/1/');
  assertJson(task, 200);
  assert.deepEqual(task.json, { id: 1, title: 'a', status: 'pending' });
  assertError(await app.request('GET', '/api/tasks/2/'), 404, /./);
});

test('any other method on a simple task path gets 404 {error}', async (t) => {
  const app = await startSimpleTasks(t, [{ title: 'a' }]);
  await assertUnchanged(app, { path: '/api/tasks' }, async () => {
    for (const path of ['/api/tasks', '/api/tasks/', '/api/tasks/1', '/api/tasks/1/']) {
      for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND']) {
        const answer = await app.request(method, path, { body: { title: 'b' } });
        assertError(answer, 404, /./);
        assert.equal(answer.headers['allow'], undefined);
      }
    }
    assertError(await app.request('POST', '/api/tasks/1', { body: { title: 'b' } }), 404, /./);
  });
});

test('any other path of simple tasks gets 404 {error}', async (t) => {
  const app = await startSimpleTasks(t, [{ title: 'a' }]);
  const paths = ['/', '/api', '/api/', '/api/task', '/API/TASKS', '/api/tasks/1/2', '/api/health', '/api/tasks//'];
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      const body = method === 'GET' ? {} : { body: { title: 'b' } };
      assertError(await app.request(method, path, body), 404, /./);
    }
  }
  assert.equal((await listSimpleTasks(app)).length, 1);
});

test('HEAD on a simple task path gets 404', async (t) => {
  const app = await startSimpleTasks(t, [{ title: 'a' }]);
  for (const path of ['/api/tasks', '/api/tasks/1', '/']) {
    assert.equal((await app.request('HEAD', path)).status, 404, path);
  }
});

test('simple task routes need no token and ignore an invalid one', async (t) => {
  const app = await startSimpleTasks(t);
  const options = { token: 'nonsense' };
  assertJson(await app.request('POST', '/api/tasks', { body: { title: 'a' }, ...options }), 201);
  assertJson(await app.request('GET', '/api/tasks', options), 200);
  assertJson(await app.request('GET', '/api/tasks/1', options), 200);
});

test('the simple task list ignores its query', async (t) => {
  const app = await startSimpleTasks(t);
  for (const title of ['a', 'b']) await addSimpleTask(app, { title });
  for (const query of ['?limit=1', '?limit=x', '?status=done', '?status=a&status=b']) {
    const { json } = await app.request<unknown[]>('GET', `/api/tasks${query}`);
    assert.equal(json.length, 2, query);
  }
});

test('a simple task id that is not in canonical digits is an unknown route: 404', async (t) => {
  const app = await startSimpleTasks(t, [{ title: 'a' }]);
  const ids = ['abc', '-1', '+1', '0', '01', '1.0', '1e3', '0x1', '%201', '1%20', '%EF%BC%91', '%D9%A1', '1%2F2'];
  for (const id of [...ids, '%00', '1%00', '%2F', '%F0%9F%98%80', '__proto__', 'constructor', 'length']) {
    assertError(await app.request('GET', `/api/tasks/${id}`), 404, /./);
  }
});
