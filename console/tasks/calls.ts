import type { Static } from 'typebox';
import type {
  NewTask as NewTaskShape,
  TaskChanges as TaskChangesShape,
  TaskDeleted,
  TaskList as TaskListShape,
  Task as TaskShape,
} from '../../src/profiles/tasks/schema.ts';
import { ApiError, defineCall } from '../api.ts';
import type { Shape } from '../shape.ts';
import { text } from '../strings/index.ts';

export type Task = Static<typeof TaskShape>;
export type NewTask = Static<typeof NewTaskShape>;
export type TaskChanges = Static<typeof TaskChangesShape>;
export type Status = Task['Status'];
export type Priority = Task['Priority'];

const profile = 'tasks';
const one = '/api/tasks/{id}';
const shape: Shape = {
  ...({ Id: 'number', Title: 'string', Description: 'string', Priority: 'string' } as const),
  ...({ Status: 'string', CreatedAt: 'string' } as const),
};

export const listTasks = defineCall<Static<typeof TaskListShape>>({
  ...{ profile, method: 'GET', path: '/api/tasks' },
  shape: { total: 'number', data: [shape] },
});

export const getTask = defineCall<Task>({ profile, method: 'GET', path: one, shape });
export const createTask = defineCall<Task>({ profile, method: 'POST', path: '/api/tasks', shape });
export const updateTask = defineCall<Task>({ profile, method: 'PUT', path: one, shape });

export const deleteTask = defineCall<Static<typeof TaskDeleted>>({
  ...{ profile, method: 'DELETE', path: one },
  shape: { remaining: 'number' },
});

/** Why a change was refused: every rule that it breaks, if the server names them. */
export const toReason = (error: unknown): string => {
  if (!(error instanceof ApiError)) return String(error);
  if (error.status === 409) return text.tasks.stillStoring;
  const { detail } = error.body;
  return Array.isArray(detail) ? detail.join('. ') : error.message;
};
