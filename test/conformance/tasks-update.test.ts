import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, assertJson } from './support/assertions.ts';
import { createTask, listTasks, readTask, startTasks, updateTask } from './support/tasks.ts';

const original = { Title: 'x', Description: 'd', Priority: 'High' };

test('PUT /api/tasks/{id} returns 200 with the updated task', async (t) => {
  const app = await startTasks(t);
  const { CreatedAt } = await createTask(app, original);
  const body = { Title: 'y', Description: 'e', Priority: 'Low', Status: 'Completed' };
  const answer = await app.request('PUT', '/api/tasks/1', { body });
  assertJson(answer, 200);
  const { UpdatedAt: _, ...updated } = answer.json;
  assert.deepEqual(updated, { Id: 1, ...body, CreatedAt });
  assert.deepEqual(await readTask(app, 1), answer.json);
});

test('PUT with empty fields keeps their values', async (t) => {
  const app = await startTasks(t);
  const created = await createTask(app, original);
  const empty = { Title: '', Description: '', Priority: '', Status: '' };
  const { UpdatedAt: _, ...updated } = await updateTask(app, 1, empty);
  assert.deepEqual(updated, created);
});

test('PUT of a missing task gets 404 and creates none', async (t) => {
  const app = await startTasks(t);
  const answer = await app.request('PUT', '/api/tasks/5', { body: original });
  assertError(answer, 404, 'Task with Id=5 not found');
  assert.equal((await listTasks(app)).total, 0);
  assert.equal((await createTask(app)).Id, 1);
});
