import Type, { type Static } from 'typebox';
import type { EntryKind, EntryStore } from '../../storage/entries.ts';
import { defineShape } from '../route.ts';

export const SimpleTask = defineShape('SimpleTask', {
  id: Type.Integer({ examples: [1] }),
  title: Type.String({ examples: ['Get milk'] }),
  status: Type.Enum(['done', 'pending'], { type: 'string', title: 'SimpleTaskStatus' }),
});
export type SimpleTask = Static<typeof SimpleTask>;

export const SimpleTaskList = Type.Array(SimpleTask, { title: 'SimpleTaskList' });

export const NewSimpleTask = defineShape('NewSimpleTask', {
  title: Type.String({ minLength: 1, examples: ['Get milk'] }),
});

export const SimpleTaskCreated = defineShape('SimpleTaskCreated', {
  message: Type.String({ examples: ['Task created'] }),
});

/** A simple task in a seed file; ids follow from the order. */
export const SimpleTaskSeed = Type.Object(
  {
    id: Type.Optional(Type.Integer({ minimum: 1 })),
    title: Type.String({ minLength: 1 }),
    status: Type.Optional(SimpleTask.properties.status),
  },
  { additionalProperties: false },
);
export type SimpleTaskSeed = Static<typeof SimpleTaskSeed>;

/** Tasks are never removed, so an id is the place in the list, from 1. */
export const simpleTaskKind: EntryKind<SimpleTaskSeed, SimpleTask> = {
  name: 'simple-tasks',
  table: 'simple_task',
  complete: ({ title, status = 'pending' }, place) => ({ id: place, title, status }),
};

export type SimpleTaskStore = EntryStore<SimpleTaskSeed, SimpleTask>;
