import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, assertInvalidTask, assertUnchanged } from './support/assertions.ts';
import { createTask, listTasks, messages, readTask, startTasks, updateTask } from './support/tasks.ts';

/** Values of every JSON type except string and null. There is a separate rule for null. */
const noStrings = [0, 1, -1.5, true, false, [], ['x'], {}, { Title: 'x' }];

test('field names of tasks are case-sensitive', async (t) => {
  const app = await startTasks(t);
  for (const body of [{ title: 'x' }, { TITLE: 'x' }, { ' Title': 'x' }]) {
    assertInvalidTask(await app.request('POST', '/api/tasks', { body }), [messages.titleRequired]);
  }
  const created = await createTask(app, { Title: 'x', priority: 'nonsense', description: 'd' });
  assert.deepEqual([created.Priority, created.Description], ['Medium', '']);
  assert.equal((await updateTask(app, 1, { title: 'y', status: 'Completed' })).Title, 'x');
});

test('unknown fields of a task are ignored, with any value', async (t) => {
  const app = await startTasks(t);
  const unknown = { Owner: 'me', nested: { Title: 'y' }, list: [1], constructor: 'c', toString: 1, '': 0 };
  const created = await createTask(app, { Title: 'x', ...unknown });
  for (const name of Object.keys(unknown)) assert.equal(Object.hasOwn(created, name), false, name);
  const { UpdatedAt: _, ...updated } = await updateTask(app, 1, unknown);
  assert.deepEqual(updated, created);
});

test('POST of a task ignores Id, CreatedAt and UpdatedAt', async (t) => {
  const app = await startTasks(t);
  const created = await createTask(app, { Title: 'x', Id: 77, CreatedAt: 'then', UpdatedAt: [] });
  assert.equal(created.Id, 1);
  assert.notEqual(created.CreatedAt, 'then');
  assert.equal('UpdatedAt' in created, false);
  assert.equal((await createTask(app, { Title: 'x', Id: 'text' })).Id, 2);
});

test('PUT of a task ignores Id, CreatedAt and UpdatedAt', async (t) => {
  const app = await startTasks(t);
  const created = await createTask(app);
  const updated = await updateTask(app, 1, { Id: 77, CreatedAt: 'then', UpdatedAt: 'never' });
  assert.deepEqual([updated.Id, updated.CreatedAt], [1, created.CreatedAt]);
  assert.match(updated.UpdatedAt ?? '', /^\d{4}-/);
  assert.equal((await listTasks(app)).total, 1);
});

test('a fetched task can be edited and sent back whole with PUT', async (t) => {
  const app = await startTasks(t);
  await createTask(app, { Title: 'x', Description: 'd', Priority: 'Low' });
  await updateTask(app, 1, { Status: 'InProgress' });
  const fetched = await readTask(app, 1);
  const { UpdatedAt: _, ...updated } = await updateTask(app, 1, { ...fetched, Status: 'Completed' });
  const { UpdatedAt: __, ...expected } = { ...fetched, Status: 'Completed' };
  assert.deepEqual(updated, expected);
});

test('null in a POST of a task counts as absent', async (t) => {
  const app = await startTasks(t);
  const created = await createTask(app, { Title: 'x', Description: null, Priority: null, Status: null });
  assert.deepEqual([created.Description, created.Priority, created.Status], ['', 'Medium', 'Pending']);
  const refused = await app.request('POST', '/api/tasks', { body: { Title: null } });
  assertInvalidTask(refused, [messages.titleRequired]);
});

test('null in a PUT of a task counts as absent, and the value stays', async (t) => {
  const app = await startTasks(t);
  const created = await createTask(app, { Title: 'x', Description: 'd', Priority: 'High' });
  const nulls = { Title: null, Description: null, Priority: null, Status: null };
  const { UpdatedAt, ...updated } = await updateTask(app, 1, nulls);
  assert.deepEqual(updated, created);
  assert.notEqual(UpdatedAt, undefined);
});

test('a string field of a task with a value of another type is rejected: `<Field> must be a string`', async (t) => {
  const app = await startTasks(t);
  await createTask(app);
  await assertUnchanged(app, { path: '/api/tasks' }, async () => {
    for (const field of ['Title', 'Description', 'Priority', 'Status']) {
      for (const value of noStrings) {
        const body = { Title: 'x', [field]: value };
        const detail = [`${field} must be a string`];
        assertInvalidTask(await app.request('POST', '/api/tasks', { body }), detail);
        assertInvalidTask(await app.request('PUT', '/api/tasks/1', { body }), detail);
      }
    }
  });
});

test('several errors in a task are reported in the order of its fields', async (t) => {
  const app = await startTasks(t);
  const body = { Status: [], Priority: 'p', Description: 5, Title: 'x'.repeat(201) };
  assertInvalidTask(await app.request('POST', '/api/tasks', { body }), [
    messages.titleTooLong,
    'Description must be a string',
    messages.priority,
    'Status must be a string',
  ]);
});

test('a field called __proto__ is rejected and reaches no object', async (t) => {
  const app = await startTasks(t);
  await createTask(app);
  await assertUnchanged(app, { path: '/api/tasks' }, async () => {
    for (const body of ['{"Title":"x","__proto__":{"Priority":"Low"}}', '{"__proto__":{"Title":"x"}}']) {
      assertError(await app.request('POST', '/api/tasks', { body }), 400, /./);
      assertError(await app.request('PUT', '/api/tasks/1', { body }), 400, /./);
    }
  });
  assert.equal('Priority' in {}, false);
});
