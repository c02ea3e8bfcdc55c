import Type from 'typebox';
import { SettingsError } from '../../config/settings-error.ts';
import { defineFeature, defineTransfer, loadSeed } from '../../kit/feature.ts';
import { createEntriesState, type EntryChange, openEntryStore } from '../../storage/entries.ts';
import { createEntryTable, createPostgresEntryStore } from '../../storage/postgres/entries.ts';
import { createItemRoutes, Item, ItemSeed, type ItemStore, itemKind } from './routes.ts';

/** Feature for items. Listing and creating them requires a token. */
export const items = defineFeature({
  name: 'items',
  profiles: [
    { name: 'items', aliases: ['I'], mounts: ['/'], summary: 'items protected by a token', fixedAccess: 'closed' },
  ],
  settings: {},
  seed: { items: ItemSeed },
  /** Transfers items in order of creation. */
  transfer: defineTransfer<EntryChange<Item>>({
    name: itemKind.name,
    lines: { items: Type.Object(Item.properties, { additionalProperties: false }) },
    table: createEntryTable(itemKind),
    createState: () => createEntriesState<Item>([]),
    toLine: ({ entry }) => ['items', entry],
    createParser: () => {
      let count = 0;
      return (_key, value) => ({ index: count++, entry: value as Item });
    },
  }),
  create: async ({ storage, clock, log, records }) => {
    const store = storage.database
      ? createPostgresEntryStore(itemKind, storage.database, clock)
      : await openEntryStore(itemKind, storage.changes);
    const seed = (records['items'] ?? []) as ItemSeed[];
    await loadSeed(() => restoreItems(store, seed), log);
    const profiles = { items: createItemRoutes(store) };
    return { profiles, isReady: store.isReady, close: async () => store.close() };
  },
});

/** Stores the seed records unless items already exist. */
const restoreItems = async (store: ItemStore, records: ItemSeed[]): Promise<void> => {
  const repeated = records.findIndex(
    ({ id }, index) => id !== undefined && records.slice(0, index).some((earlier) => earlier.id === id),
  );
  if (repeated >= 0) throw new SettingsError([`seed record items[${repeated}].id occurs twice`]);
  if (records.length > 0) await store.restore(records);
};
