import { alertIndexing } from '../../kit/alert-record.ts';
import type { AlertSource } from '../../kit/alert-source.ts';
import type { Parts } from '../../kit/feature.ts';
import { awaitWithin } from '../../lib/scheduling.ts';
import type { LogRecord } from '../../storage/journal/line.ts';
import type { Database } from '../../storage/postgres/database.ts';
import { DatabaseLog, eventsLease } from '../../storage/postgres/database-log.ts';
import { createLease } from '../../storage/postgres/lease.ts';
import { toEventTable } from '../../storage/postgres/record-collection.ts';
import { createSnapshotTable } from '../../storage/postgres/snapshot-table.ts';
import type { FollowedLog, RecordLog } from '../../storage/record-log.ts';
import { findBeginning, openFormerIncidents } from './former.ts';
import { firstRules } from './settings.ts';
import { IncidentStore, type StoreParts } from './store.ts';

/** Milliseconds that a start waits at most for what a database has. */
const patienceMs = 2000;

type OpeningParts = Pick<Parts, 'storage' | 'clock' | 'log' | 'offers'>;
type Given = Pick<StoreParts, 'rules' | 'observe'>;

/** Opens the incidents that follow the log of alerts, in the database that instances share, or in files. */
export const openIncidents = (parts: OpeningParts, given: Given): Promise<IncidentStore> =>
  parts.storage.database ? openShared(parts, parts.storage.database, given) : openInFiles(parts, given);

/** The log is open where alerts are mounted. */
const openInFiles = async ({ storage, offers, clock, log }: OpeningParts, given: Given): Promise<IncidentStore> => {
  const { alerts } = offers;
  const former = openFormerIncidents(storage);
  const open = (events: FollowedLog, search: RecordLog['search'], onClosed?: () => Promise<void>) =>
    IncidentStore.open({
      ...given,
      clock,
      log,
      events,
      snapshot: storage.snapshot('alerts.incidents'),
      begin: (state, isClosed) => findBeginning({ events: { ...events, search }, former, state, isClosed, clock, log }),
      noteSaved: former.noteRead,
      ...(onClosed && { onClosed }),
    });
  if (alerts) return open(alerts.events, alerts.journal.search);
  const options = { title: 'alert log', awaitsHold: true, recentCount: 1000, indexing: alertIndexing };
  const events = await storage.log('alerts', options);
  return open(events, events.search, () => events.close());
};

const openShared = async (
  { offers, clock, log }: OpeningParts,
  database: Database,
  given: Given,
): Promise<IncidentStore> => {
  const { alerts } = offers;
  const lease = createLease(database, eventsLease);
  const opened = alerts ? undefined : await openWithoutAlerts(database, clock);
  const { events, isOwn } = (alerts ?? opened) as Pick<AlertSource, 'events' | 'isOwn'>;
  const store = await IncidentStore.open({
    ...given,
    clock,
    log,
    events,
    snapshot: createSnapshotTable({ database, tables: ['alert', toEventTable('alert')], isWriter: lease.isHeld }),
    shared: { lease, firstRules, isOwn },
    ...(opened && { onClosed: () => opened.close() }),
  });
  // The settings of an instance that may say so count for the first alerts already.
  await awaitWithin(
    patienceMs,
    Promise.all([lease.begun, store.catchUp()]).then(() => store.catchUp()),
  );
  return store;
};

const openWithoutAlerts = async (database: Database, clock: () => Date) => {
  const log = await DatabaseLog.open({ database, table: 'alert', clock, hasEvents: true, retainDays: () => 0 });
  return { events: log.events, isOwn: (record: LogRecord) => log.isOwn(record), close: () => log.close() };
};
