import Type from 'typebox';
import { type Addition, createEntriesState } from '../../storage/changes/entries.ts';
import { createEntryTables } from '../../storage/postgres/moved-tables.ts';
import { defineTransfer } from '../feature.ts';
import { SimpleTask } from './schema.ts';

/** Simple tasks in order of creation. Their ids are their places, also where one before them was lost. */
export const simpleTaskTransfer = defineTransfer<Addition<SimpleTask>>({
  name: 'simple-tasks',
  lines: { simpleTasks: Type.Object(SimpleTask.properties, { additionalProperties: false }) },
  tables: createEntryTables<SimpleTask>('simple_task', () => []),
  begin: () => {
    let read = 0;
    let written = 0;
    return {
      state: createEntriesState<SimpleTask>([]),
      toLine: ({ entry }) => {
        written += 1;
        return ['simpleTasks', { ...entry, id: written }];
      },
      toChange: (_key, value) => {
        const entry = value as SimpleTask;
        if (entry.id !== read + 1) return { problem: `id must be ${read + 1}, its place in the list` };
        read += 1;
        return { change: { index: entry.id - 1, entry } };
      },
    };
  },
});
