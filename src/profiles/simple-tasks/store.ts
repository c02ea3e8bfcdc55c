import { type Awaitable, type List, toList } from '../../storage/list.ts';
import type { SimpleTask } from './schema.ts';

/** Where simple tasks are kept. Every method throws StoreUnavailable while the store cannot be used. */
export interface SimpleTaskStore {
  /** Keeps a task under the next id: nothing removes a task, so an id is a place in the list, from 1 on. */
  add(task: Omit<SimpleTask, 'id'>): Awaitable<SimpleTask>;
  find(id: number): Awaitable<SimpleTask | undefined>;
  /** All tasks in order of creation. */
  list(): Awaitable<List<SimpleTask>>;
  /** Whether tasks can be read and added at the moment. */
  isReady(): Awaitable<boolean>;
  close(): Awaitable<void>;
}

/** Simple tasks in memory; they are lost when the process ends. */
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
