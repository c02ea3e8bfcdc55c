import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createTaskListRoute, createTaskRoutes } from '../../src/features/tasks/routes.ts';
import type { TaskStore } from '../../src/features/tasks/store.ts';
import type { Feature } from '../../src/kit/feature.ts';
import { StoreConflict, StoreUnavailable } from '../../src/lib/expected-errors.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createAsynchronousTaskStore } from './asynchronous.ts';

const now = () => new Date(2026, 0, 31, 9, 30);

/** Starts an app that stores its tasks in the given store. */
const startWith = (t: TestContext, store: TaskStore): Promise<TestApp> => {
  const feature: Feature = {
    name: 'tasks',
    profiles: [{ name: 'tasks', aliases: ['T'], summary: 'tasks', mounts: ['/'] }],
    settings: {},
    create: () => ({ profiles: { tasks: [createTaskListRoute(store), ...createTaskRoutes(store)] } }),
  };
  return startApp(t, { features: [feature] });
};

test('an asynchronous store gives the responses of a synchronous one', async (t) => {
  const later = await startWith(t, await createAsynchronousTaskStore(now));
  const atOnce = await startApp(t, { settings: { profiles: ['T'] } });
  const long = { Title: 'x', Description: 'y'.repeat(100_000) };
  for (const [method, path, body] of [
    ['POST', '/api/tasks', { Title: 'first' }],
    ['POST', '/api/tasks', long],
    ['POST', '/api/tasks', long],
    ['POST', '/api/tasks', { Title: '' }],
    ['GET', '/api/tasks'],
    ['GET', '/api/tasks?limit=1'],
    ['GET', '/api/tasks?status=Completed'],
    ['HEAD', '/api/tasks'],
    ['GET', '/api/tasks/1'],
    ['GET', '/api/tasks/9'],
    ['PUT', '/api/tasks/1', { Status: 'Completed' }],
    ['PUT', '/api/tasks/9', {}],
    ['PUT', '/api/tasks/1', { Status: 'x' }],
    ['DELETE', '/api/tasks/2'],
    ['DELETE', '/api/tasks/2'],
  ] as const) {
    const [a, b] = await Promise.all([later, atOnce].map((app) => app.request(method, path, { body })));
    const toComparable = (text = '') => text.replace(/"(Created|Updated)At":"[^"]*"/g, '');
    const { date: _, ...headers } = a?.headers ?? {};
    const { date: __, ...expected } = b?.headers ?? {};
    assert.deepEqual([a?.status, headers], [b?.status, expected], `${method} ${path}`);
    assert.equal(toComparable(a?.text), toComparable(b?.text), `${method} ${path}`);
  }
});

const methods = ['create', 'find', 'update', 'remove', 'list', 'restore', 'isReady', 'close'];

/** Creates a store whose methods all fail, either synchronously or later. */
const createFailing = (error: Error, isLater: boolean): TaskStore => {
  const fail = () => {
    if (isLater) return Promise.reject(error);
    throw error;
  };
  return Object.fromEntries(methods.map((name) => [name, fail])) as never;
};

const calls = [
  ['GET', '/api/tasks'],
  ['GET', '/api/tasks/1'],
  ['POST', '/api/tasks', { Title: 'x' }],
  ['PUT', '/api/tasks/1', {}],
  ['DELETE', '/api/tasks/1'],
] as const;

for (const [when, isLater] of [
  ['immediately', false],
  ['later', true],
] as const) {
  test(`a store that is unavailable ${when} results in a 503 with Retry-After on every route`, async (t) => {
    const app = await startWith(t, createFailing(new StoreUnavailable('The database does not answer'), isLater));
    for (const [method, path, body] of calls) {
      const { status, headers, json } = await app.request(method, path, { body });
      assert.deepEqual([status, headers['retry-after'], json], [503, '1', { error: 'The database does not answer' }]);
    }
  });

  test(`a conflict in a store that responds ${when} results in a 412 with the current version`, async (t) => {
    const app = await startWith(t, createFailing(new StoreConflict('The task has changed', 7), isLater));
    for (const [method, path, body] of calls) {
      const { status, headers, json } = await app.request(method, path, { body });
      assert.deepEqual([status, headers['etag'], json], [412, '"7"', { error: 'The task has changed' }]);
    }
  });

  test(`any other error of a store that fails ${when} results in a 500 without internals`, async (t) => {
    const app = await startWith(t, createFailing(new Error('secret'), isLater));
    for (const [method, path, body] of calls) {
      const { status, text } = await app.request(method, path, { body });
      assert.equal(status, 500);
      assert.doesNotMatch(text, /secret/);
    }
  });
}
