import { type Awaitable, type List, toList } from '../../storage/list.ts';
import type { SimpleTask } from './schema.ts';

/** Stores simple tasks. Every method throws StoreUnavailable while the store cannot be used. */
export interface SimpleTaskStore {
  /** Stores a task under the next id. Tasks are never removed, so an id is the position in the list, from 1. */
  add(task: Omit<SimpleTask, 'id'>): Awaitable<SimpleTask>;
  find(id: number): Awaitable<SimpleTask | undefined>;
  /** All tasks in order of creation. */
  list(): Awaitable<List<SimpleTask>>;
  /** Whether tasks can be read and added at the moment. */
  isReady(): Awaitable<boolean>;
  close(): Awaitable<void>;
}

/** Simple tasks in memory; they are lost when the server stops. */
export const createMemorySimpleTaskStore = (): SimpleTaskStore => {
  const tasks: SimpleTask[] = [];
  return {
    add: ({ title, status }) => {
      const task = { id: tasks.length + 1, title, status };
      tasks.push(task);
      return task;
    },
    find: (id) => tasks[id - 1],
    list: () => toList(tasks),
    isReady: () => true,
    close: () => undefined,
  };
};
