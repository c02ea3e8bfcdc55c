import { randomUUID } from 'node:crypto';
import { IncidentStore } from '../../src/features/incidents/store.ts';
import { Database } from '../../src/storage/postgres/database.ts';
import { DatabaseLog, eventsLease } from '../../src/storage/postgres/database-log.ts';
import { createLease } from '../../src/storage/postgres/lease.ts';
import { createSnapshotTable } from '../../src/storage/postgres/snapshot-table.ts';
import { atEnd, type Scope } from '../support/scope.ts';
import { rules } from './incident-store.ts';

const ignore = (): void => undefined;

const timeOf = ({ time }: Record<string, unknown>) => Date.parse(String(time));

/** Opens another instance on a database. */
export const openInstance = async (t: Scope, url: string, clock: () => Date, { name = 'a', retainDays = 0 } = {}) => {
  const identity = { instance: randomUUID(), name: 'test', version: '0' };
  const common = { secret: 'x'.repeat(32), timeZone: 'UTC' };
  const database = new Database(url, identity, common, { report: ignore, onRefused: ignore, onCommit: ignore });
  database.begin();
  const indexing = { timeOf, keyOf: () => undefined };
  const alerts = await DatabaseLog.open({
    database,
    table: 'alert',
    instance: name,
    clock,
    indexing,
    retainDays: () => retainDays,
    hasEvents: true,
  });
  const measured = { opened: 0 };
  const lease = createLease(database, eventsLease);
  await lease.begun;
  const store = await IncidentStore.open({
    rules,
    observe: ({ opened }) => {
      measured.opened += opened;
    },
    log: { warn: ignore, error: ignore },
    events: alerts.events,
    snapshot: createSnapshotTable({ database, tables: ['alert', 'alert_event'], isWriter: lease.isHeld }),
    shared: { lease, firstRules: rules, isOwn: (record) => alerts.isOwn(record) },
    clock,
  });
  atEnd(t, async () => {
    await store.close();
    await alerts.close();
    await database.close();
  });
  return { store, alerts, measured };
};
