import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { keepsTasks } from '../support/test-store.ts';
import { createTask, listTasks, readTask, startTasks } from './support/tasks.ts';

test('a description has no maximum length and is kept as sent', async (t) => {
  const app = await startTasks(t);
  const Description = ' Zeile 1\r\n\tline 2 \u0000 "quoted" \\ 漢字 😀 '.repeat(2000);
  assert.equal((await createTask(app, { Title: 'x', Description })).Description, Description);
  assert.equal((await readTask(app, 1)).Description, Description);
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
