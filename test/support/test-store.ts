import { randomUUID } from 'node:crypto';
import { ordinary } from './postgres/data-folder.ts';
import { runSql } from './postgres/server.ts';

/**
 * Settings for the store that SIGNALBOX_TEST_STORE names, for tests that run with each: `file`, or the address of the
 * superuser of a PostgreSQL server, where a new database is created.
 */
export const createTestStore = async (): Promise<Record<string, unknown>> => {
  const store = process.env['SIGNALBOX_TEST_STORE'];
  if (store === undefined || store === 'file') return store === undefined ? {} : { store };
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  await runSql(store, `CREATE DATABASE ${database} OWNER ${ordinary.user}`);
  const { host } = new URL(store);
  return { store: `postgres://${ordinary.user}:${ordinary.password}@${host}/${database}`, timeZone: 'UTC' };
};

/** Why a test of what memory loses is skipped; false with the store that is the default. */
export const keepsTasks = process.env['SIGNALBOX_TEST_STORE'] !== undefined && 'this store keeps tasks and items';
