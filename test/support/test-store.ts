import { randomUUID } from 'node:crypto';
import { ordinary } from './postgres/data-folder.ts';
import { runSql } from './postgres/server.ts';

const named = process.env['SIGNALBOX_TEST_STORE'];

/**
 * Settings for the store that SIGNALBOX_TEST_STORE names, for tests that run with each: `file`, or the address of the
 * superuser of a PostgreSQL server, where a new database is created.
 */
export const createTestStore = async (): Promise<Record<string, unknown>> => {
  if (named === undefined) return {};
  if (named === 'file') return { store: named };
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  await runSql(named, `CREATE DATABASE ${database} OWNER ${ordinary.user}`);
  const { host } = new URL(named);
  return { store: `postgres://${ordinary.user}:${ordinary.password}@${host}/${database}`, timeZone: 'UTC' };
};

/** Why a test of what memory loses is skipped; false with the store that is the default. */
export const keepsTasks = named !== undefined && 'this store keeps tasks and items';

/** Why a test of many long lists is skipped; false with stores that send any number of them at once. */
export const limitsLists = named !== undefined && named !== 'file' && 'two long lists at once may use the database';
