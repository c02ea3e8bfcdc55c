import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, assertJson } from './support/assertions.ts';
import { createTask, listTasks, startTasks, updateTask } from './support/tasks.ts';

test('DELETE /api/tasks/{id} returns 200 with message and the number of remaining tasks', async (t) => {
  const app = await startTasks(t);
  for (const Title of ['a', 'b', 'c']) await createTask(app, { Title });
  const answer = await app.request('DELETE', '/api/tasks/2');
  assertJson(answer, 200);
  assert.deepEqual(Object.keys(answer.json), ['message', 'remaining']);
  assert.equal(answer.json['remaining'], 2);
  assert.equal((await app.request('DELETE', '/api/tasks/1')).json['remaining'], 1);
  assert.equal((await app.request('DELETE', '/api/tasks/3')).json['remaining'], 0);
});

test('a deleted task is no longer listed and cannot be read or changed', async (t) => {
  const app = await startTasks(t);
  await createTask(app, { Title: 'a' });
  const kept = await createTask(app, { Title: 'b' });
  await app.request('DELETE', '/api/tasks/1');
  assert.deepEqual((await listTasks(app)).data, [kept]);
  assertError(await app.request('GET', '/api/tasks/1'), 404, 'Task with Id=1 not found');
  assertError(await app.request('PUT', '/api/tasks/1', { body: {} }), 404, 'Task with Id=1 not found');
});

test('DELETE of a missing task gets 404 and deletes none', async (t) => {
  const app = await startTasks(t);
  await createTask(app);
  assertError(await app.request('DELETE', '/api/tasks/2'), 404, 'Task with Id=2 not found');
  await app.request('DELETE', '/api/tasks/1');
  await createTask(app);
  assertError(await app.request('DELETE', '/api/tasks/1'), 404, 'Task with Id=1 not found');
  assert.equal((await listTasks(app)).total, 1);
});

test('a task can be deleted in every status', async (t) => {
  const app = await startTasks(t);
  for (const Status of ['Pending', 'InProgress', 'Completed', 'Cancelled']) {
    const { Id } = await createTask(app);
    await updateTask(app, Id, { Status });
    assertJson(await app.request('DELETE', `/api/tasks/${Id}`), 200);
  }
});

test('the message of DELETE is `Task with Id=<id> deleted`', async (t) => {
  const app = await startTasks(t);
  await createTask(app);
  const { text } = await app.request('DELETE', '/api/tasks/1');
  assert.equal(text, '{"message":"Task with Id=1 deleted","remaining":0}');
});
