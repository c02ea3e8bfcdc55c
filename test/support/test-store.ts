import { createDatabase } from './postgres/shared-server.ts';

const named = process.env['SIGNALBOX_TEST_STORE'];

/**
 * Settings for the store that SIGNALBOX_TEST_STORE names, for tests that run with each: `file`, or `postgres` for a new
 * database of a server that this process starts.
 */
export const createTestStore = async (): Promise<Record<string, unknown>> => {
  if (named === undefined) return {};
  if (named === 'file') return { store: named };
  return { store: await createDatabase(), timeZone: 'UTC' };
};

/** Why a test of what memory loses is skipped; false with the store that is the default. */
export const keepsTasks = named !== undefined && 'this store keeps tasks and items';

/** Why a test of many long lists is skipped; false with stores that send any number of them at once. */
export const limitsLists = named !== undefined && named !== 'file' && 'two long lists at once may use the database';
