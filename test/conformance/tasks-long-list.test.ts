import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { limitsLists } from '../support/test-store.ts';
import { createTask, readTask, type TaskList, titlesOf, updateTask } from './support/tasks.ts';

/** Seed with more tasks than the socket buffers can hold. */
const seed = Array.from({ length: 60 }, (_, index) => ({
  Title: `task ${index + 1}`,
  Description: 'd'.repeat(500_000),
}));
const titles = seed.map(({ Title }) => Title);

const start = (t: TestContext): Promise<TestApp> =>
  startApp(t, { settings: { profiles: ['protected-tasks', 'login'] }, seed: { tasks: seed } });

/** Requests all tasks and reads only the headers of the response. */
const askFor = async ({ url }: TestApp, token: string): Promise<IncomingMessage> => {
  const asked = request(`${url}/api/tasks`, { headers: { authorization: `Bearer ${token}` } }).end();
  const [answer] = await once(asked, 'response');
  return answer;
};

const assertList = async (answer: IncomingMessage, expected: string[]): Promise<void> => {
  const list = (await json(answer)) as TaskList;
  assert.deepEqual([list.count, titlesOf(list)], [expected.length, expected]);
};

test('changes that are made while a list is read do not appear in the list', async (t) => {
  const app = await start(t);
  const token = await app.login('reader');
  const before = await askFor(app, token);
  await updateTask(app, 60, { Title: 'changed' });
  await app.request('DELETE', '/api/tasks/59');
  await createTask(app, { Title: 'new' });
  const after = await askFor(app, token);
  for (const [id] of seed.entries()) await app.request('DELETE', `/api/tasks/${id + 1}`);
  await assertList(before, titles);
  await assertList(after, [...titles.slice(0, 58), 'changed', 'new']);
  await assertList(await askFor(app, token), ['new']);
});

test('clients that do not read delay neither other readers nor changes', { skip: limitsLists }, async (t) => {
  const app = await start(t);
  const token = await app.login('reader');
  const slow = await Promise.all([1, 2, 3].map(() => askFor(app, token)));
  await assertList(await askFor(app, token), titles);
  await updateTask(app, 1, { Title: 'changed' });
  assert.equal((await readTask(app, 1)).Title, 'changed');
  await Promise.all(slow.map((answer) => assertList(answer, titles)));
});
