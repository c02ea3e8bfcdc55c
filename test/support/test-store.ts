import type { Scope } from './scope.ts';

const named = process.env['SIGNALBOX_TEST_STORE'];

/** Loaded on demand, because the module stops its server after all tests of a process. */
const server = named === 'postgres' ? await import('./postgres/shared-server.ts') : undefined;

/**
 * Returns settings for the store in SIGNALBOX_TEST_STORE, for tests that run with each store: `file`, or `postgres` for
 * an empty database on a server that this process starts. When the scope ends, other tests get the database.
 */
export const createTestStore = async (t?: Scope): Promise<Record<string, unknown>> => {
  if (named === undefined) return {};
  if (named === 'file') return { store: named };
  return { store: await server?.createDatabase(t), timeZone: 'UTC' };
};

/** Reason to skip a test of data that a memory store would lose. False with the default store. */
export const keepsTasks = named !== undefined && 'this store keeps tasks and items';

/** Reason to skip a test of many long lists. False with stores that can send any number of lists concurrently. */
export const limitsLists = named !== undefined && named !== 'file' && 'two long lists at once may use the database';
