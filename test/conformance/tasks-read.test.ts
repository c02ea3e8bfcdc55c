import { test } from 'node:test';
import type { TestApp } from '../support/app.ts';
import { assertError, assertUnchanged } from './support/assertions.ts';
import { createTask, startTasks } from './support/tasks.ts';

/**
 * Ids that are not canonical decimal digits, or that belong to no task, each as written in the path and as shown in the
 * response.
 */
const absentIds = [
  ['2', '2'],
  ['0', '0'],
  ['00', '00'],
  ['01', '01'],
  ['-1', '-1'],
  ['+1', '+1'],
  ['1.0', '1.0'],
  ['1e3', '1e3'],
  ['0x1', '0x1'],
  ['%201', ' 1'],
  ['1%20', '1 '],
  ['1%2F2', '1/2'],
  ['1%3F', '1?'],
  ['%00', '\u0000'],
  ['1%00', '1\u0000'],
  ['%EF%BC%91', '１'],
  ['%D9%A1', '١'],
  ['%F0%9F%98%80', '😀'],
  ['9007199254740993', '9007199254740993'],
  ['9'.repeat(400), '9'.repeat(400)],
  ['NaN', 'NaN'],
  ['__proto__', '__proto__'],
  ['constructor', 'constructor'],
  ['%3Cb%3E', '<b>'],
] as const;

const assertAbsent = (app: TestApp, method: string): Promise<void> =>
  assertUnchanged(app, { path: '/api/tasks' }, async () => {
    for (const [path, id] of absentIds) {
      const answer = await app.request(method, `/api/tasks/${path}`, {
        ...(method === 'PUT' && { body: { Title: 'changed' } }),
      });
      assertError(answer, 404, `Task with Id=${id} not found`);
    }
  });

test('a path below a task gets 404 like an unknown route', async (t) => {
  const app = await startTasks(t);
  await createTask(app);
  for (const path of ['/api/tasks/1/', '/api/tasks/1/x', '/api/tasks/1/2', '/api/task', '/API/tasks', '/tasks']) {
    assertError(await app.request('GET', path), 404, /./);
  }
});

test('GET by an id that is not in canonical decimal digits gets 404, with the id as written', async (t) => {
  const app = await startTasks(t);
  await createTask(app);
  await assertAbsent(app, 'GET');
});

test('PUT by an id that is not in canonical decimal digits gets 404, with the id as written, and changes no task', async (t) => {
  const app = await startTasks(t);
  await createTask(app);
  await assertAbsent(app, 'PUT');
});

test('DELETE by an id that is not in canonical decimal digits gets 404, with the id as written, and deletes no task', async (t) => {
  const app = await startTasks(t);
  await createTask(app);
  await assertAbsent(app, 'DELETE');
});
