import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestApp } from '../support/app.ts';
import { assertError, assertInvalidTask, assertUnchanged } from './support/assertions.ts';
import { createTask, messages, startTasks, updateTask } from './support/tasks.ts';

/** Asserts that the bodies are rejected with the messages and leave the task unchanged. */
const assertRefused = async (app: TestApp, bodies: object[], detail: string[]): Promise<void> => {
  await createTask(app, { Title: 'x', Description: 'd', Priority: 'High' });
  await assertUnchanged(app, { path: '/api/tasks/1' }, async () => {
    for (const body of bodies) assertInvalidTask(await app.request('PUT', '/api/tasks/1', { body }), detail);
  });
};

test('PUT of a missing task gets 404, even with an invalid body or without one', async (t) => {
  const app = await startTasks(t);
  for (const body of [{ Title: ' ' }, { Priority: 'p' }, { Status: 5 }, '']) {
    assertError(await app.request('PUT', '/api/tasks/1', { body }), 404, 'Task with Id=1 not found');
  }
  assertError(await app.request('PUT', '/api/tasks/1'), 404, 'Task with Id=1 not found');
});

test('PUT with a blank title is rejected: `Title is required`', async (t) => {
  const bodies = [{ Title: ' ' }, { Title: '\t\n' }, { Title: '\u3000' }];
  await assertRefused(await startTasks(t), bodies, [messages.titleRequired]);
});

test('PUT with a title of more than 200 characters is rejected', async (t) => {
  const bodies = [{ Title: 'x'.repeat(201) }, { Title: '😀'.repeat(201) }];
  await assertRefused(await startTasks(t), bodies, [messages.titleTooLong]);
});

test('PUT with a priority outside the enum is rejected', async (t) => {
  await assertRefused(await startTasks(t), [{ Priority: 'low' }, { Priority: ' ' }], [messages.priority]);
});

test('PUT with a status outside the enum is rejected', async (t) => {
  await assertRefused(await startTasks(t), [{ Status: 'Done' }, { Status: ' ' }], [messages.status]);
});

test('a PUT with one invalid field changes no field, and lists every error', async (t) => {
  const app = await startTasks(t);
  const good = { Title: 'y', Description: 'e', Priority: 'Low' };
  await assertRefused(app, [{ ...good, Status: 's' }], [messages.status]);
  const bad = { Description: 'e', Status: 's', Priority: 'p', Title: ' ' };
  await assertRefused(app, [bad], [messages.titleRequired, messages.priority, messages.status]);
});

test('PUT with {} is valid and sets UpdatedAt', async (t) => {
  const app = await startTasks(t);
  const created = await createTask(app);
  const { UpdatedAt, ...updated } = await updateTask(app, 1, {});
  assert.deepEqual(updated, created);
  assert.match(UpdatedAt ?? '', /^\d{4}-\d\d-\d\dT/);
});

test('PUT accepts a title of 200 code points', async (t) => {
  const app = await startTasks(t);
  await createTask(app);
  const Title = '😀'.repeat(200);
  assert.equal((await updateTask(app, 1, { Title })).Title, Title);
});
