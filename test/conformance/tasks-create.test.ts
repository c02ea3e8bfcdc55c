import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertInvalidTask, assertJson, assertUnchanged } from './support/assertions.ts';
import { createTask, messages, readTask, startTasks } from './support/tasks.ts';

const list = { path: '/api/tasks' };

test('POST /api/tasks returns 201 with the created task', async (t) => {
  const app = await startTasks(t);
  const body = { Title: 'Back up', Description: 'all of it', Priority: 'High' };
  const answer = await app.request('POST', '/api/tasks', { body });
  assertJson(answer, 201);
  const { CreatedAt, ...rest } = answer.json;
  assert.deepEqual(rest, { Id: 1, ...body, Status: 'Pending' });
  assert.equal(typeof CreatedAt, 'string');
  assert.deepEqual(await readTask(app, 1), answer.json);
});

test('POST of a task without a title is rejected: `Title is required`', async (t) => {
  const app = await startTasks(t);
  for (const body of [{}, { Description: 'd' }, { Title: '' }, { Priority: 'Low', Status: 'Pending' }]) {
    assertInvalidTask(await app.request('POST', '/api/tasks', { body }), [messages.titleRequired]);
  }
});

test('POST of a task with a title of more than 200 characters is rejected', async (t) => {
  const app = await startTasks(t);
  for (const length of [201, 202, 5000]) {
    const body = { Title: 'x'.repeat(length) };
    assertInvalidTask(await app.request('POST', '/api/tasks', { body }), [messages.titleTooLong]);
  }
  assert.equal((await createTask(app, { Title: 'x'.repeat(200) })).Title.length, 200);
});

test('POST of a task with a priority outside the enum is rejected', async (t) => {
  const app = await startTasks(t);
  for (const Priority of ['Urgent', 'low', 'HIGH', ' Low', 'Low ', 'Low,High', '0', '__proto__', 'constructor']) {
    const answer = await app.request('POST', '/api/tasks', { body: { Title: 'x', Priority } });
    assertInvalidTask(answer, [messages.priority]);
  }
});

test('POST of a task with a status outside the enum is rejected', async (t) => {
  const app = await startTasks(t);
  for (const Status of ['Done', 'pending', 'COMPLETED', 'In Progress', 'Completed\n', '__proto__', 'toString']) {
    const answer = await app.request('POST', '/api/tasks', { body: { Title: 'x', Status } });
    assertInvalidTask(answer, [messages.status]);
  }
});

test('a rejected POST of a task lists all its errors', async (t) => {
  const app = await startTasks(t);
  const body = { Title: '', Priority: 'p', Status: 's' };
  assertInvalidTask(await app.request('POST', '/api/tasks', { body }), [
    messages.titleRequired,
    messages.priority,
    messages.status,
  ]);
});

test('a rejected POST of a task creates no task and uses no id', async (t) => {
  const app = await startTasks(t);
  await createTask(app);
  await assertUnchanged(app, list, async () => {
    for (const body of [{}, { Title: ' ' }, { Title: 'x', Priority: 'p' }, { Title: 'x', Status: 's' }, '{', '[]']) {
      assertJson(await app.request('POST', '/api/tasks', { body }), 400);
    }
  });
  assert.equal((await createTask(app)).Id, 2);
});

test('an empty priority or status in a POST is outside the enum', async (t) => {
  const app = await startTasks(t);
  await assertUnchanged(app, list, async () => {
    const body = { Title: 'x', Priority: '', Status: '' };
    assertInvalidTask(await app.request('POST', '/api/tasks', { body }), [messages.priority, messages.status]);
  });
});
