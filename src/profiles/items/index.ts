import { SettingsError } from '../../config/settings-error.ts';
import { loadSeed } from '../../storage/load-seed.ts';
import { defineFeature } from '../feature.ts';
import { createPostgresItemStore } from './postgres-store.ts';
import { createItemRoutes } from './routes.ts';
import { ItemSeed } from './schema.ts';
import { type ItemStore, openItemStore } from './store.ts';
import { itemTransfer } from './transfer.ts';

/** Items, listed and created with a token. */
export const items = defineFeature({
  name: 'items',
  profiles: [{ name: 'items', alias: 'I', mounts: ['/'], summary: 'items behind a token', fixedAccess: 'closed' }],
  settings: {},
  seed: { items: ItemSeed },
  transfer: itemTransfer,
  create: async ({ openChanges, database, clock, log, records }) => {
    const store = database ? createPostgresItemStore(database, clock) : await openItemStore(openChanges);
    const seed = (records['items'] ?? []) as ItemSeed[];
    await loadSeed(() => restoreItems(store, seed), log);
    const profiles = { items: createItemRoutes(store) };
    return { profiles, isReady: store.isReady, close: async () => store.close() };
  },
});

/** Loads the seed, unless there are items already. */
const restoreItems = async (store: ItemStore, records: ItemSeed[]): Promise<void> => {
  const repeated = records.findIndex(
    ({ id }, index) => id !== undefined && records.slice(0, index).some((earlier) => earlier.id === id),
  );
  if (repeated >= 0) throw new SettingsError([`seed record items[${repeated}].id is given twice`]);
  if (records.length > 0) await store.restore(records);
};
