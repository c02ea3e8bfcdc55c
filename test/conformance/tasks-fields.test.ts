import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { keepsTasks } from '../support/test-store.ts';
import {
  createTask,
  listTasks,
  priorities,
  readTask,
  startTasks,
  statuses,
  taskKeys,
  updateTask,
} from './support/tasks.ts';

test('a task has Id, Title, Description, Priority, Status and CreatedAt, in this order', async (t) => {
  const app = await startTasks(t);
  const created = await app.request('POST', '/api/tasks', { body: { Title: 'x' } });
  assert.deepEqual(Object.keys(created.json), taskKeys);
  const { text } = await app.request('GET', '/api/tasks/1');
  assert.equal(text, created.text);
  assert.deepEqual(Object.keys((await listTasks(app)).data[0] ?? {}), taskKeys);
});

test('UpdatedAt is the last member of a task that was updated, and absent from all others', async (t) => {
  const app = await startTasks(t);
  assert.equal('UpdatedAt' in (await createTask(app)), false);
  await createTask(app);
  const updated = await updateTask(app, 1, { Title: 'y' });
  assert.deepEqual(Object.keys(updated), [...taskKeys, 'UpdatedAt']);
  assert.deepEqual(await readTask(app, 1), updated);
  const { data } = await listTasks(app);
  assert.deepEqual(
    data.map((task) => 'UpdatedAt' in task),
    [true, false],
  );
});

test('the description is an empty string by default', async (t) => {
  const app = await startTasks(t);
  assert.equal((await createTask(app, { Title: 'x' })).Description, '');
  assert.equal((await createTask(app, { Title: 'x', Description: '' })).Description, '');
});

test('a description has no maximum length and is kept as sent', async (t) => {
  const app = await startTasks(t);
  const Description = ' Zeile 1\r\n\tline 2 \u0000 "quoted" \\ 漢字 😀 '.repeat(2000);
  assert.equal((await createTask(app, { Title: 'x', Description })).Description, Description);
  assert.equal((await readTask(app, 1)).Description, Description);
});

test('the priority is one of Low, Medium, High and Critical', async (t) => {
  const app = await startTasks(t);
  for (const Priority of priorities) {
    assert.equal((await createTask(app, { Title: 'x', Priority })).Priority, Priority);
  }
});

test('the priority is Medium by default', async (t) => {
  const app = await startTasks(t);
  assert.equal((await createTask(app, { Title: 'x' })).Priority, 'Medium');
});

test('a new task is Pending', async (t) => {
  const app = await startTasks(t);
  assert.equal((await createTask(app)).Status, 'Pending');
  assert.equal((await readTask(app, 1)).Status, 'Pending');
});

test('the status is one of Pending, InProgress, Completed and Cancelled', async (t) => {
  const app = await startTasks(t);
  await createTask(app);
  for (const Status of statuses) assert.equal((await updateTask(app, 1, { Status })).Status, Status);
});

test('tasks are lost when the server restarts, even with the same data directory', {
  skip: keepsTasks,
}, async (t) => {
  const first = await startTasks(t);
  await createTask(first);
  await first.close();
  const settings = { profiles: ['tasks'], dataDir: `${first.folder}/data` };
  const second = await startApp(t, { settings });
  assert.deepEqual(await listTasks(second), { total: 0, count: 0, limit: 50, data: [] });
});
