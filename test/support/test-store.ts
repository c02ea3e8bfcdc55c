import type { Scope } from './scope.ts';

const named = process.env['SIGNALBOX_TEST_STORE'];

/** Loaded only where it is needed: it ends its server after all tests of a process. */
const server = named === 'postgres' ? await import('./postgres/shared-server.ts') : undefined;

/**
 * Settings for the store that SIGNALBOX_TEST_STORE names, for tests that run with each: `file`, or `postgres` for an empty
 * database of a server that this process starts, which others get after the end of the scope, if there is one.
 */
export const createTestStore = async (t?: Scope): Promise<Record<string, unknown>> => {
  if (named === undefined) return {};
  if (named === 'file') return { store: named };
  return { store: await server?.createDatabase(t), timeZone: 'UTC' };
};

/** Why a test of what memory loses is skipped; false with the store that is the default. */
export const keepsTasks = named !== undefined && 'this store keeps tasks and items';

/** Why a test of many long lists is skipped; false with stores that send any number of them at once. */
export const limitsLists = named !== undefined && named !== 'file' && 'two long lists at once may use the database';
