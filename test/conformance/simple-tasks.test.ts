import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { assertError, assertJson, assertUnchanged } from './support/assertions.ts';
import { addSimpleTask, listSimpleTasks, startSimpleTasks } from './support/simple-tasks.ts';

test('GET /api/tasks of simple tasks returns 200 with an array of tasks', async (t) => {
  const app = await startSimpleTasks(t);
  const empty = await app.request('GET', '/api/tasks');
  assertJson(empty, 200);
  assert.equal(empty.text, '[]');
  await addSimpleTask(app, { title: 'a' });
  await addSimpleTask(app, { title: 'b' });
  assert.deepEqual(
    (await listSimpleTasks(app)).map(({ title }) => title),
    ['a', 'b'],
  );
});

test('a simple task has id, title and status, in this order', async (t) => {
  const app = await startSimpleTasks(t);
  await addSimpleTask(app, { title: 'a' });
  const { text } = await app.request('GET', '/api/tasks/1');
  assert.equal(text, '{"id":1,"title":"a","status":"pending"}');
  assert.equal((await app.request('GET', '/api/tasks')).text, `[${text}]`);
});

test('the id of a new simple task is the number of tasks plus one', async (t) => {
  const app = await startSimpleTasks(t, [{ title: 'a' }, { title: 'b' }]);
  await addSimpleTask(app, { title: 'c' });
  await addSimpleTask(app, { title: 'd' });
  assert.deepEqual(
    (await listSimpleTasks(app)).map(({ id }) => id),
    [1, 2, 3, 4],
  );
});

test('a new simple task has the title as sent, and is pending', async (t) => {
  const app = await startSimpleTasks(t);
  const titles = ['a', '  a ', ' ', 'x'.repeat(201), '😀'.repeat(500), '漢字', '\u0000', '__proto__'];
  for (const title of titles) await addSimpleTask(app, { title });
  assert.deepEqual(
    await listSimpleTasks(app),
    titles.map((title, index) => ({ id: index + 1, title, status: 'pending' })),
  );
});

test('GET /api/tasks/{id} of simple tasks returns 200 with the task', async (t) => {
  const app = await startSimpleTasks(t, [{ title: 'a' }, { title: 'b', status: 'done' }]);
  const answer = await app.request('GET', '/api/tasks/2');
  assertJson(answer, 200);
  assert.deepEqual(answer.json, { id: 2, title: 'b', status: 'done' });
});

test('GET of a missing simple task gets 404 {error}', async (t) => {
  const app = await startSimpleTasks(t, [{ title: 'a' }]);
  for (const id of ['2', '1000', '9007199254740993', '9'.repeat(400)]) {
    assertError(await app.request('GET', `/api/tasks/${id}`), 404, /./);
  }
});

test('POST /api/tasks of simple tasks returns 201 with only a message', async (t) => {
  const app = await startSimpleTasks(t);
  const answer = await app.request('POST', '/api/tasks', { body: { title: 'a' } });
  assertJson(answer, 201);
  assert.deepEqual(Object.keys(answer.json), ['message']);
  assert.equal(typeof answer.json['message'], 'string');
});

test('simple tasks are separate from the tasks of other profiles', async (t) => {
  const app = await startApp(t);
  await app.request('POST', '/api/tasks', { body: { Title: 'a task' } });
  assert.equal((await app.request('GET', '/simple/api/tasks')).text, '[]');
  await app.request('POST', '/simple/api/tasks', { body: { title: 'simple' } });
  assert.equal((await app.request('GET', '/api/tasks')).json['total'], 1);
});

test('other fields of a simple task are ignored, and field names are case-sensitive', async (t) => {
  const app = await startSimpleTasks(t);
  await addSimpleTask(app, { title: 'a', id: 9, status: 'done', constructor: 1 });
  assert.deepEqual(await listSimpleTasks(app), [{ id: 1, title: 'a', status: 'pending' }]);
  assertError(await app.request('POST', '/api/tasks', { body: { Title: 'a' } }), 400, /title/);
});

test('POST of a simple task without a title, or with an empty one, is rejected and adds no task', async (t) => {
  const app = await startSimpleTasks(t, [{ title: 'a' }]);
  await assertUnchanged(app, { path: '/api/tasks' }, async () => {
    for (const body of [{}, { title: '' }, { title: null }, { name: 'x' }]) {
      assertError(await app.request('POST', '/api/tasks', { body }), 400, /title/);
    }
  });
});

test('POST of a simple task whose title is not a string is rejected and adds no task', async (t) => {
  const app = await startSimpleTasks(t, [{ title: 'a' }]);
  await assertUnchanged(app, { path: '/api/tasks' }, async () => {
    for (const title of [0, 1, true, false, [], ['x'], {}, { x: 1 }]) {
      assertError(await app.request('POST', '/api/tasks', { body: { title } }), 400, /title/);
    }
  });
});
