import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, assertJson } from './support/assertions.ts';
import { createTask, listTasks, readTask, startTasks, statuses, updateTask } from './support/tasks.ts';

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

test('PUT accepts any of Title, Description, Priority and Status, and absent fields keep their values', async (t) => {
  const app = await startTasks(t);
  let expected: object = await createTask(app, original);
  const changes = [{ Title: 'y' }, { Description: 'e' }, { Priority: 'Critical' }, { Status: 'Cancelled' }];
  for (const change of changes) {
    const { UpdatedAt: _, ...updated } = await updateTask(app, 1, change);
    expected = { ...expected, ...change };
    assert.deepEqual(updated, expected);
  }
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

test('PUT with a status sets it and UpdatedAt, after any status', async (t) => {
  const app = await startTasks(t);
  for (const from of statuses) {
    for (const to of statuses) {
      const { Id } = await createTask(app);
      await updateTask(app, Id, { Status: from });
      const updated = await updateTask(app, Id, { Status: to });
      assert.equal(updated.Status, to);
      assert.notEqual(updated.UpdatedAt, undefined);
    }
  }
});

test('PUT without a status keeps it and sets UpdatedAt', async (t) => {
  const app = await startTasks(
    t,
    statuses.map((Status) => ({ Title: 'x', Status })),
  );
  for (const [index, status] of statuses.entries()) {
    for (const change of [{ Title: 'y' }, { Status: '' }, { Status: null }]) {
      const updated = await updateTask(app, index + 1, change);
      assert.equal(updated.Status, status);
      assert.notEqual(updated.UpdatedAt, undefined);
    }
  }
});

test('PUT changes no other task', async (t) => {
  const app = await startTasks(t);
  const first = await createTask(app);
  await createTask(app);
  const third = await createTask(app);
  await updateTask(app, 2, { Title: 'y', Status: 'Completed' });
  const { data } = await listTasks(app);
  assert.deepEqual([data[0], data[2]], [first, third]);
});
