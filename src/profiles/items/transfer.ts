import Type from 'typebox';
import { type Addition, createEntriesState } from '../../storage/changes/entries.ts';
import { createEntryTables } from '../../storage/postgres/moved-tables.ts';
import { defineTransfer } from '../feature.ts';
import { storeNumbers } from './postgres-store.ts';
import { Item } from './schema.ts';

/** Items in order of creation. */
export const itemTransfer = defineTransfer<Addition<Item>>({
  name: 'items',
  lines: { items: Type.Object(Item.properties, { additionalProperties: false }) },
  tables: createEntryTables<Item>('item', storeNumbers),
  begin: () => {
    let count = 0;
    return {
      state: createEntriesState<Item>([]),
      toLine: ({ entry }) => ['items', entry],
      toChange: (_key, value) => ({ change: { index: count++, entry: value as Item } }),
    };
  },
});
