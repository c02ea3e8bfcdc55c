import type { Static } from 'typebox';
import type { SimpleTask as Shape } from '../../src/profiles/simple-tasks/schema.ts';
import { defineCall } from '../api.ts';

export type SimpleTask = Static<typeof Shape>;

export const listSimpleTasks = defineCall<SimpleTask[]>({
  ...{ profile: 'simple-tasks', method: 'GET', path: '/api/tasks' },
  shape: [{ id: 'number', title: 'string', status: 'string' }],
});
