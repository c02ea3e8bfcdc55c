import { alertIndexing } from '../../../kit/alert-record.ts';
import { StoreUnavailable } from '../../../lib/expected-errors.ts';
import type { Database } from '../../../storage/postgres/database.ts';
import { DatabaseLog } from '../../../storage/postgres/database-log.ts';
import { Projection } from '../../../storage/projection.ts';
import { FiringAlerts } from '../firing/firing-alerts.ts';
import type { AlertLog, AlertLogParts } from './alert-log.ts';
import { AlertRows } from './alert-rows.ts';
import { readInstanceId } from './instance-id.ts';
import { readDatabaseRetention, unlimitedNotice } from './retention.ts';
import { SharedAlertStore } from './shared-store.ts';
import { Spool } from './spool.ts';

const ignore = (): void => undefined;

/** Number of alerts at the end of the log that every startup folds. */
const tailCount = 20_000;

/** Opens the alert log in the tables `alert` and `alert_event` of the shared database. */
export const openSharedLog = async (parts: AlertLogParts, database: Database): Promise<AlertLog> => {
  const { storage, clock, log, meters, settings, repeatAfterMs, onReceived } = parts;
  let isReported = false;
  const journal = await DatabaseLog.open({
    database,
    table: 'alert',
    hasEvents: true,
    instance: await readInstanceId(storage),
    clock,
    indexing: alertIndexing,
    retainDays: async () => {
      const days = settings.alertsRetainDays ?? (await readDatabaseRetention(database));
      if (days === 0 && settings.alertsRetainDays === undefined && !isReported) log.info(unlimitedNotice);
      isReported = true;
      return days;
    },
    queueCount: settings.alertsQueueCount,
    queueBytes: settings.alertsQueueBytes,
  });
  const firing = await Projection.open<FiringAlerts>({
    log: journal,
    createState: () => new FiringAlerts(clock),
    begin: () => findTail(database, journal),
    isRestoredLater: true,
    onDamage: ignore,
    onUnsaved: ignore,
  });
  const catchUp = () => firing.catchUp().catch(ignore);
  const rows = new AlertRows(journal, clock);
  const spool = settings.spool
    ? await Spool.open({
        storage,
        log,
        segmentBytes: settings.alertsSegmentBytes,
        minFreeBytes: settings.alertsMinFreeBytes,
        sync: settings.alertsSync,
        canShip: () => journal.state().healthy,
        ship: (lines) => rows.ship(lines),
      })
    : undefined;
  const store = new SharedAlertStore(journal, { rows, spool, clock, firing, catchUp, repeatAfterMs, onReceived });
  meters.reading('gauge', 'signalbox_alerts_spooled', 'Alerts waiting on disk for the database.', () => [
    [[], spool?.unshipped ?? 0],
  ]);
  return {
    journal,
    events: journal.events,
    own: {
      readAfter: (seq) => journal.readOwnAfter(seq),
      onStored: (listener) => journal.onStored(listener),
      holdFrom: () => journal.holdFrom(),
      state: () => journal.state(),
    },
    notices: [],
    isOwn: (record) => journal.isOwn(record),
    beginRetention: ignore,
    store,
    firing,
    whenRead: catchUp,
    readiness: () => {
      const { healthy } = journal.state();
      return { isReady: healthy || spool?.isHealthy === true, unavailable: healthy ? [] : ['database'] };
    },
    close: async () => {
      await firing.close();
      await spool?.close();
      await journal.close();
    },
  };
};

/**
 * Returns the seq before the last `tailCount` alerts. Alerts and events share one sequence. Throws StoreUnavailable if
 * the database cannot be read.
 */
const findTail = async (database: Pick<Database, 'query'>, log: Pick<DatabaseLog, 'state'>): Promise<number> => {
  if (log.state().lastSeq === undefined) throw new StoreUnavailable('The database has not been reached yet');
  const [row] = await database.query({
    text: `SELECT seq FROM signalbox.alert ORDER BY seq DESC OFFSET ${tailCount} LIMIT 1`,
  });
  return row?.seq ?? 0;
};
