import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FileIncidentStore } from '../../src/profiles/incidents/file-store.ts';
import { PostgresIncidentStore } from '../../src/profiles/incidents/postgres-store.ts';
import { createStateFile } from '../../src/storage/changes/state-file.ts';
import { openJournal } from '../../src/storage/journal/journal.ts';
import { Database } from '../../src/storage/postgres/database.ts';
import { DatabaseLog } from '../../src/storage/postgres/records/database-log.ts';
import { createFolder } from '../support/folder.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { type CreateLife, compareIncidentStores, rules, testIncidentStore } from './incident-store.ts';

const skip = toSkipPostgres();

const ignore = (): void => undefined;
const log = { warn: ignore, error: ignore };
const parts = { rules, retainDays: 0, observe: ignore, log };

const timeOf = ({ time }: Record<string, unknown>) => Date.parse(String(time));

const createInFiles: CreateLife = async (t, clock) => {
  const directory = createFolder(t);
  const alerts = await openJournal({ directory, name: 'alerts', minFreeBytes: 0, recentCount: 1000 });
  const store = await FileIncidentStore.open({
    ...{ ...parts, alerts, clock, file: createStateFile(join(directory, 'incidents.state')) },
    openLog: (_title, options) => openJournal({ directory, minFreeBytes: 0, ...options }),
  });
  t.after(async () => {
    await store.close();
    await alerts.close();
  });
  return {
    store,
    append: async (records) => {
      const appended = await alerts.appendAll(records);
      return records.map((record, index) => ({ ...record, ...appended[index] }) as never);
    },
  };
};

/** One more instance on a database. */
const openInstance = async (t: TestContext, url: string, clock: () => Date) => {
  const identity = { instance: randomUUID(), name: 'test', version: '0' };
  const common = { secret: 'x'.repeat(32), timeZone: 'UTC' };
  const database = new Database(url, identity, common, { report: ignore, onCommit: ignore });
  database.begin();
  const indexing = { timeOf, keyOf: () => undefined };
  const alerts = await DatabaseLog.open({
    database,
    table: 'alert',
    instance: 'a',
    clock,
    indexing,
    retainDays: () => 0,
  });
  const store = new PostgresIncidentStore({ ...parts, database, alerts, clock });
  t.after(async () => {
    await store.close();
    await alerts.close();
    await database.close();
  });
  return { store, alerts };
};

const createInPostgres: CreateLife = async (t, clock) => {
  const { store, alerts } = await openInstance(t, await createDatabase(), clock);
  return {
    store,
    append: async (records) => {
      const appended = await alerts.appendAll(records);
      return records.map((record, index) => ({ ...record, ...appended[index] }) as never);
    },
  };
};

testIncidentStore('file', createInFiles);
if (!skip) testIncidentStore('postgres', createInPostgres);

test('files and the database have the same incidents after the same alerts and actions', { skip }, async (t) => {
  await compareIncidentStores(t, createInFiles, createInPostgres);
});
