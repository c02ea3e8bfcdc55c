import type { OpenChanges } from '../../storage/changes/changes.ts';
import { openEntries } from '../../storage/changes/entries.ts';
import { type Awaitable, type List, toList } from '../../storage/list.ts';
import type { SimpleTask } from './schema.ts';

/** Stores simple tasks. Every method throws StoreUnavailable while the store cannot be used. */
export interface SimpleTaskStore {
  /** Stores a task under the next id. Tasks are never removed, so an id is the position in the list, from 1. */
  add(task: Omit<SimpleTask, 'id'>): Awaitable<SimpleTask>;
  find(id: number): Awaitable<SimpleTask | undefined>;
  /** All tasks in order of creation. */
  list(): Awaitable<List<SimpleTask>>;
  /** Stores the first tasks, unless there are some already. */
  restore(tasks: readonly Omit<SimpleTask, 'id'>[]): Awaitable<void>;
  /** Whether tasks can be read and added at the moment. */
  isReady(): Awaitable<boolean>;
  close(): Awaitable<void>;
}

/** Simple tasks in memory, whose changes show once they are stored. */
export const openSimpleTaskStore = async (openChanges: OpenChanges): Promise<SimpleTaskStore> => {
  const tasks = await openEntries<SimpleTask>('simple-tasks', openChanges);
  return {
    add: ({ title, status }) => tasks.add((index) => ({ id: index + 1, title, status })),
    find: (id) => tasks.all[id - 1],
    list: () => toList(tasks.all),
    restore: (records) => {
      if (tasks.all.length > 0) return;
      return tasks.restore(records.map(({ title, status }, index) => ({ id: index + 1, title, status })));
    },
    isReady: tasks.isReady,
    close: tasks.close,
  };
};
