import type { EntryKind, EntryStore } from '../../storage/entries.ts';
import type { SimpleTask, SimpleTaskSeed } from './schema.ts';

/** Tasks are never removed, so an id is the place in the list, from 1. */
export const simpleTaskKind: EntryKind<SimpleTaskSeed, SimpleTask> = {
  name: 'simple-tasks',
  table: 'simple_task',
  complete: ({ title, status = 'pending' }, place) => ({ id: place, title, status }),
};

export type SimpleTaskStore = EntryStore<SimpleTaskSeed, SimpleTask>;
