import assert from 'node:assert/strict';
import { startApp, type TestApp } from '../../support/app.ts';
import type { Scope } from '../../support/scope.ts';

export const priorities = ['Low', 'Medium', 'High', 'Critical'] as const;
export const statuses = ['Pending', 'InProgress', 'Completed', 'Cancelled'] as const;

/** Error messages of the four rules. */
export const messages = {
  titleRequired: 'Title is required',
  titleTooLong: 'Title must not exceed 200 characters',
  priority: 'Priority must be one of: Low, Medium, High, Critical',
  status: 'Status must be one of: Pending, InProgress, Completed, Cancelled',
};

export interface Task {
  Id: number;
  Title: string;
  Description: string;
  Priority: string;
  Status: string;
  CreatedAt: string;
  UpdatedAt?: string;
}

export interface TaskList {
  total: number;
  count: number;
  limit: number;
  data: Task[];
}

/** Starts an app that serves only the profile `tasks`, at `/`. */
export const startTasks = (t: Scope, seed?: Partial<Task>[]): Promise<TestApp> =>
  startApp(t, {
    settings: { profiles: ['tasks'] },
    ...(seed && { seed: { tasks: seed } }),
  });

export const createTask = async (app: TestApp, fields: object = { Title: 'a task' }): Promise<Task> => {
  const { status, text, json } = await app.request<Task>('POST', '/api/tasks', { body: fields });
  assert.equal(status, 201, text);
  return json;
};

export const readTask = async (app: TestApp, id: number): Promise<Task> => {
  const { status, text, json } = await app.request<Task>('GET', `/api/tasks/${id}`);
  assert.equal(status, 200, text);
  return json;
};

/** Sends a PUT that must succeed. */
export const updateTask = async (app: TestApp, id: number, changes: object): Promise<Task> => {
  const { status, text, json } = await app.request<Task>('PUT', `/api/tasks/${id}`, { body: changes });
  assert.equal(status, 200, text);
  return json;
};

/** Returns the list. `query` includes the question mark. */
export const listTasks = async (app: TestApp, query = ''): Promise<TaskList> => {
  const { status, text, json } = await app.request<TaskList>('GET', `/api/tasks${query}`);
  assert.equal(status, 200, text);
  return json;
};

export const titlesOf = ({ data }: Pick<TaskList, 'data'>): string[] => data.map(({ Title }) => Title);
