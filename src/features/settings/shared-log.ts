import type { Database } from '../../storage/postgres/database.ts';
import { DatabaseLog } from '../../storage/postgres/database-log.ts';
import { createSnapshotTable } from '../../storage/postgres/snapshot-table.ts';

/** Opens the change log and its snapshot in the database that instances share. */
export const openSharedSettingLog = async (database: Database, clock: () => Date) => ({
  changes: await DatabaseLog.open({ database, table: 'setting', clock, retainDays: () => 0, hasSnapshot: true }),
  state: createSnapshotTable({ database, tables: ['setting'], cutsLog: true }),
});
