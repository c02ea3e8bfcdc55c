import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startApp, type TestApp } from '../../support/app.ts';

interface SimpleTask {
  id: number;
  title: string;
  status: string;
}

/** Starts an app that serves only the profile `simple-tasks`, at `/`. */
export const startSimpleTasks = (t: TestContext, seed: Partial<SimpleTask>[] = []): Promise<TestApp> =>
  startApp(t, { settings: { profiles: ['simple-tasks'] }, seed: { simpleTasks: seed } });

export const addSimpleTask = async (app: TestApp, body: object): Promise<void> => {
  const { status, text } = await app.request('POST', '/api/tasks', { body });
  assert.equal(status, 201, text);
};

export const listSimpleTasks = async (app: TestApp): Promise<SimpleTask[]> =>
  (await app.request<SimpleTask[]>('GET', '/api/tasks')).json;
