import { isDeepStrictEqual } from 'node:util';
import { Finding } from './judge.ts';
import type { Exchange, Ledger } from './ledger.ts';

interface Task {
  Id: number;
  [field: string]: unknown;
}

interface TaskList {
  total?: number;
  count: number;
  data: Task[];
}

const settable = ['Title', 'Description', 'Priority', 'Status'];

/**
 * Creates the ledger of tasks: ids increase by one and are never reused, tasks are read back as written, and counts
 * match the tasks.
 */
export const createTaskLedger = (): Ledger => {
  const tasks = new Map<number, Task>();
  /** Ids of tasks created for incidents, until they are read. */
  const unread = new Set<number>();
  const learn = (task: Task): void => {
    if (unread.delete(task.Id)) tasks.set(task.Id, task);
  };
  let lastId = 0;
  const expect = (holds: boolean, what: string): void => {
    if (!holds) throw new Finding(`${what}; tasks: ${[...tasks.keys()].join(' ')}; last id: ${lastId}`);
  };
  const handlers: Record<string, (exchange: Exchange) => void> = {
    'POST /api/tasks 201': ({ sent, json }) => {
      const task = json as Task;
      expect(task.Id === lastId + 1, `a new task has the id ${task.Id}`);
      expect(holds(task, { ...sent, Status: 'Pending' }), 'a new task is not what was sent');
      lastId = task.Id;
      tasks.set(task.Id, task);
    },
    'POST /api/incidents/{id}/task 201': ({ json }) => {
      const { task } = json as { task: number };
      expect(task === lastId + 1, `a new task has the id ${task}`);
      lastId = task;
      tasks.set(task, { Id: task });
      unread.add(task);
    },
    'PUT /api/tasks/{id} 200': ({ id, sent, json }) => {
      const before = tasks.get(Number(id));
      const task = json as Task;
      unread.delete(task.Id);
      expect(before !== undefined && holds(task, { ...before, ...sent }), `task ${id} is not what was sent`);
      tasks.set(task.Id, task);
    },
    'DELETE /api/tasks/{id} 200': ({ id, json }) => {
      expect(tasks.delete(Number(id)), `task ${id} is deleted, which was not there`);
      expect((json as { remaining: number }).remaining === tasks.size, `after ${id}, the rest is miscounted`);
    },
    'GET /api/tasks/{id} 200': ({ id, json }) => {
      learn(json as Task);
      expect(isDeepStrictEqual(tasks.get(Number(id)), json), `task ${id} is not what was written`);
    },
    'GET /api/tasks 200': ({ query, json }) => {
      const { total, count, data } = json as TaskList;
      expect(count === data.length, `${count} is not the number of tasks in the list`);
      for (const task of data) learn(task);
      expect(
        data.every((task) => isDeepStrictEqual(tasks.get(task.Id), task)),
        'a task in the list is not what was written',
      );
      expect(isRising(data), 'the list is out of order');
      if (query.size === 0) expect((total ?? count) === tasks.size, `the list reports ${total ?? count} tasks`);
    },
  };
  return (exchange) => {
    const { name, status, id } = exchange;
    const isGone =
      status === 404 && name.endsWith('/api/tasks/{id}') && tasks.has(Number(id)) && String(Number(id)) === id;
    expect(!isGone, `task ${id} is there, and not found`);
    handlers[`${name} ${status}`]?.(exchange);
  };
};

const holds = (task: Task, fields: Record<string, unknown>): boolean =>
  settable.every((name) => fields[name] === undefined || task[name] === fields[name]);

const isRising = (tasks: Task[]): boolean =>
  tasks.every(({ Id }, index) => index === 0 || Id > (tasks[index - 1]?.Id ?? 0));
