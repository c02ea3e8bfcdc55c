import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { packageRoot } from '../../src/server/package-info.ts';
import { startApp, startRefusal } from '../support/app.ts';
import { token } from './support/items.ts';
import { createTask, listTasks, startTasks, statuses } from './support/tasks.ts';

/** Asserts that startup with a seed file fails with a message that names the record and the field. */
const assertStopped = async (t: TestContext, seed: unknown, message: RegExp): Promise<void> =>
  assert.match(await startRefusal(t, { seed }), message);

test('without a seed file every store starts empty', async (t) => {
  const app = await startApp(t);
  assert.equal((await listTasks(app)).total, 0);
  assert.equal((await app.request('GET', '/simple/api/tasks')).text, '[]');
  assert.equal((await app.request('GET', '/api/items', { token })).json['total'], 0);
});

test('a seed file can contain tasks in every status, with their ids and times', async (t) => {
  const times = { CreatedAt: '2020-01-02T03:04:05', UpdatedAt: '2021-01-02T03:04:05' };
  const fields = { Description: 'd', Priority: 'Low', ...times };
  const seed = statuses.map((Status, index) => ({ Id: 10 * (index + 1), Title: Status, Status, ...fields }));
  assert.deepEqual((await listTasks(await startTasks(t, seed))).data, seed);
});

test('a seeded task with only a title is a new task, and ids continue above the highest', async (t) => {
  const app = await startTasks(t, [{ Title: 'a' }, { Id: 41, Title: 'b' }, { Title: 'c' }]);
  const { data } = await listTasks(app);
  assert.deepEqual(
    data.map(({ Id, Status, Priority, Description }) => [Id, Status, Priority, Description]),
    [1, 41, 42].map((id) => [id, 'Pending', 'Medium', '']),
  );
  assert.equal((await createTask(app)).Id, 43);
});

test('a seed file can contain simple tasks that are done', async (t) => {
  const simpleTasks = [{ title: 'a', status: 'done' }, { title: 'b', status: 'pending' }, { title: 'c' }];
  const app = await startApp(t, { seed: { simpleTasks } });
  const { json } = await app.request<{ id: number; status: string }[]>('GET', '/simple/api/tasks');
  assert.deepEqual(
    json.map(({ id, status }) => [id, status]),
    [
      [1, 'done'],
      [2, 'pending'],
      [3, 'pending'],
    ],
  );
});

test('a seed file can contain items that are active or archived', async (t) => {
  const items = ['active', 'archived', 'created'].map((status, id) => ({ id, name: status, status }));
  const app = await startApp(t, { seed: { items } });
  assert.deepEqual((await app.request('GET', '/api/items', { token })).json['data'], items);
});

const wrongFields = new RegExp(
  [
    '^seed record tasks\\[0\\] has no field "Tittle"; did you mean "Title"\\?',
    'seed record tasks\\[0\\] has no field "a\\\\nb"',
    'seed record tasks\\[0\\]\\.Title must be a string',
    'seed record tasks\\[0\\]\\.Priority must be one of Low, Medium, High, Critical$',
  ].join('; '),
);

test('an invalid task in the seed file prevents startup, and the message names the record and the field', async (t) => {
  const good = { Title: 'x' };
  await assertStopped(t, { tasks: [good, {}] }, /tasks\[1\]\.Title/);
  await assertStopped(t, { tasks: [{ Title: ' ' }] }, /tasks\[0\]\.Title/);
  await assertStopped(t, { tasks: [{ Title: '😀'.repeat(201) }] }, /tasks\[0\]\.Title/);
  await assertStopped(t, { tasks: [good, good, { ...good, Status: 'Done' }] }, /tasks\[2\]\.Status/);
  await assertStopped(t, { tasks: [{ ...good, Priority: 5 }] }, /tasks\[0\]\.Priority/);
  await assertStopped(t, { tasks: [{ ...good, CreatedAt: 'today' }] }, /tasks\[0\]\.CreatedAt/);
  await assertStopped(t, { tasks: [{ ...good, Id: 0 }] }, /tasks\[0\]\.Id/);
  await assertStopped(
    t,
    {
      tasks: [
        { ...good, Id: 2 },
        { ...good, Id: 2 },
      ],
    },
    /tasks\[1\]\.Id/,
  );
  await assertStopped(t, { tasks: [{ ...good, Owner: 'me' }] }, /^seed record tasks\[0\] has no field "Owner"$/);
  await assertStopped(t, { tasks: [{ Tittle: 'x', Title: 5, Priority: 5, 'a\nb': 1 }] }, wrongFields);
  await assertStopped(t, { tasks: [5] }, /tasks\[0\]/);
});

test('an invalid simple task or item in the seed file prevents startup, and the message names the record and the field', async (t) => {
  await assertStopped(t, { simpleTasks: [{ title: '' }] }, /simpleTasks\[0\]\.title/);
  await assertStopped(t, { simpleTasks: [{ title: 'a', status: 'Done' }] }, /simpleTasks\[0\]\.status/);
  await assertStopped(t, { simpleTasks: [{ title: 'a', id: 2 }] }, /simpleTasks\[0\]\.id/);
  await assertStopped(t, { items: [{ name: 'a' }, { name: 5 }] }, /items\[1\]\.name/);
  await assertStopped(t, { items: [{ name: 'a', status: 'gone' }] }, /items\[0\]\.status/);
  await assertStopped(t, { items: [{ name: 'a', id: 1000 }] }, /items\[0\]\.id/);
  await assertStopped(
    t,
    {
      items: [
        { name: 'a', id: 1 },
        { name: 'b', id: 1 },
      ],
    },
    /items\[1\]\.id/,
  );
});

test('a seed file that is not an object of lists prevents startup', async (t) => {
  for (const seed of [[], 5, 'x', { tasks: {} }, { Tasks: [] }, { constructor: [] }]) {
    await assertStopped(t, seed, /seed file/);
  }
});

test('the example seed file loads, with records of all three kinds', async (t) => {
  const path = join(packageRoot, 'examples', 'seed.json');
  const app = await startApp(t, { seed: JSON.parse(readFileSync(path, 'utf8')) });
  assert.ok((await listTasks(app)).total > 0);
  assert.notEqual((await app.request('GET', '/simple/api/tasks')).text, '[]');
  assert.notEqual((await app.request('GET', '/api/items', { token })).json['total'], 0);
});
