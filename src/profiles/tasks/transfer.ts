import Type, { type Static } from 'typebox';
import { defineTransfer } from '../feature.ts';
import { taskTables } from './postgres/task-tables.ts';
import { Task } from './schema.ts';
import { createTaskState, type TaskChange } from './task-state.ts';

/** Later ids stay below 2^53. */
const highestId = 1e15;

const { Id: _, ...fields } = Task.properties;
const Id = Type.Integer({ minimum: 1, maximum: highestId });
const StoredTask = Type.Object(
  { Id, ...fields, version: Type.Integer({ minimum: 1, maximum: highestId }) },
  { additionalProperties: false },
);
const StoredKey = Type.Object(
  {
    key: Type.String({ minLength: 1 }),
    bodyHash: Type.String({ minLength: 1 }),
    storedAt: Type.Integer({ minimum: 0 }),
    task: Type.Object({ Id, ...fields }, { additionalProperties: false }),
  },
  { additionalProperties: false },
);

/** Tasks, the last id that was given, and the keys of requests that created a task in the last 24 hours. */
export const taskTransfer = defineTransfer<TaskChange>({
  name: 'tasks',
  lines: { tasks: StoredTask, lastTaskId: Id, taskKeys: StoredKey },
  tables: taskTables,
  begin: () => {
    let highest = 0;
    let hasLastId = false;
    const keys = new Set<string>();
    return {
      state: createTaskState(() => new Date()),
      toLine: (change) => {
        if ('lastId' in change) return change.lastId > 0 ? ['lastTaskId', change.lastId] : undefined;
        if ('key' in change) return ['taskKeys', { ...change.key, task: change.task }];
        return 'task' in change ? ['tasks', { ...change.task, version: change.version }] : undefined;
      },
      toChange: (name, value) => {
        if (name === 'lastTaskId') {
          hasLastId = true;
          return { change: { lastId: value as number } };
        }
        // Without it, ids of deleted tasks would be given again.
        if (!hasLastId) {
          const member = name === 'tasks' ? 'Id' : 'task';
          return { problem: `${member} must follow a line with lastTaskId, which is missing` };
        }
        if (name === 'taskKeys') {
          const { task, ...key } = value as Static<typeof StoredKey>;
          if (keys.has(key.key)) return { problem: 'key is that of a task before it' };
          keys.add(key.key);
          return { change: { key, task } };
        }
        const { version, ...task } = value as Static<typeof StoredTask>;
        if (task.Id <= highest) return { problem: 'Id must be higher than those of the tasks before it' };
        highest = task.Id;
        return { change: { task, version } };
      },
    };
  },
});
