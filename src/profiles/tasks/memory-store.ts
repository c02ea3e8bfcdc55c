import { toLocalTimestamp } from '../../http/timestamp.ts';
import type { NewTask, Task, TaskChanges } from './schema.ts';
import type { TaskFilter, TaskStore } from './store.ts';

/** Tasks in memory, in order of creation; they are gone when the process ends. */
export const createMemoryTaskStore = (clock: () => Date): TaskStore => {
  const tasks = new Map<number, Task>();
  let lastId = 0;
  const keep = (task: Task): Task => {
    tasks.set(task.Id, task);
    return task;
  };
  return {
    create: (fields) => keep({ ...toTask(++lastId, fields, toLocalTimestamp(clock())), Status: 'Pending' }),
    find: (id) => tasks.get(id),
    update: (id, changes) => {
      const task = tasks.get(id);
      return task && keep(toUpdated(task, changes, toLocalTimestamp(clock())));
    },
    remove: (id) => (tasks.delete(id) ? tasks.size : undefined),
    list: (filter, limit) => {
      const matches = Array.from(tasks.values()).filter((task) => isMatch(task, filter));
      return { total: matches.length, tasks: matches.slice(0, limit) };
    },
    restore: ({ Id = lastId + 1, CreatedAt = toLocalTimestamp(clock()), UpdatedAt, ...record }) => {
      if (Id <= lastId) return false;
      lastId = Id;
      keep({ ...toTask(Id, record, CreatedAt), ...(UpdatedAt !== undefined && { UpdatedAt }) });
      return true;
    },
  };
};

/** Field by field: what else a client sends, times among it, stays outside. */
const toTask = (id: number, fields: NewTask, createdAt: string): Task => ({
  Id: id,
  Title: fields.Title,
  Description: fields.Description ?? '',
  Priority: fields.Priority ?? 'Medium',
  Status: fields.Status ?? 'Pending',
  CreatedAt: createdAt,
});

const toUpdated = (task: Task, changes: TaskChanges, now: string): Task => ({
  Id: task.Id,
  Title: changes.Title ?? task.Title,
  Description: changes.Description ?? task.Description,
  Priority: changes.Priority ?? task.Priority,
  Status: changes.Status ?? task.Status,
  CreatedAt: task.CreatedAt,
  UpdatedAt: now,
});

const isMatch = (task: Task, { status, priority }: TaskFilter): boolean =>
  (status === undefined || task.Status === status) && (priority === undefined || task.Priority === priority);
