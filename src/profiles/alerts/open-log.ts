import type { Static, TObject } from 'typebox';
import { DatabaseLog } from '../../storage/postgres/records/database-log.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { Parts } from '../feature.ts';
import { readTime } from './alert.ts';
import { type AlertIntake, Repeats } from './intake/repeats.ts';
import { readInstanceId } from './outbox/instance-id.ts';
import type { alertSettings } from './settings.ts';
import { SharedAlerts } from './shared/shared-alerts.ts';
import { Spool } from './shared/spool.ts';

/** The log of alerts, and what stores them in it. */
export interface AlertLog {
  journal: RecordLog;
  /** The same, of which only alerts that this instance has received are read. */
  own: Pick<RecordLog, 'readAfter' | 'onStored' | 'holdFrom' | 'state'>;
  isOwn(record: Record<string, unknown>): boolean;
  intake: AlertIntake;
  /** Whether alerts can be stored, and what else cannot be used meanwhile. */
  readiness(): { isReady: boolean; unavailable: string[] };
  reopen(): Promise<unknown>;
  close(): Promise<void>;
}

type OpeningParts = Pick<Parts, 'database' | 'openLog' | 'openSnapshot' | 'clock' | 'log' | 'meters'> & {
  settings: Static<TObject<typeof alertSettings>>;
};

const indexing = {
  timeOf: readTime,
  keyOf: ({ level }: Record<string, unknown>) => (typeof level === 'string' ? level : ''),
  keys: ['CRITICAL', 'ERROR', 'WARNING', 'INFO'],
};

/** Opens the log in the database that instances share, if there is one, or else in files of this machine. */
export const openAlertLog = (parts: OpeningParts): Promise<AlertLog> =>
  parts.database ? openShared(parts, parts.database) : openLocal(parts);

const openLocal = async ({ openLog, clock, log, settings }: OpeningParts): Promise<AlertLog> => {
  const journal = await openLog('alert log', {
    name: 'alerts',
    segmentBytes: settings.alertsSegmentBytes,
    retainSegments: settings.alertsRetainSegments,
    retainBytes: settings.alertsRetainBytes,
    retainDays: settings.alertsRetainDays,
    queueCount: settings.alertsQueueCount,
    queueBytes: settings.alertsQueueBytes,
    minFreeBytes: settings.alertsMinFreeBytes,
    sync: settings.alertsSync,
    awaitsHold: true,
    indexing,
  });
  return {
    journal,
    own: journal,
    isOwn: () => true,
    intake: new Repeats(journal, clock, (err) => {
      log.warn({ err }, 'alert log: its end cannot be read, so alerts that come again may be stored again');
    }),
    readiness: () => ({ isReady: journal.state().healthy, unavailable: [] }),
    reopen: () => journal.reopen(),
    close: () => journal.close(),
  };
};

const openShared = async (
  { openLog, openSnapshot, clock, log, meters, settings }: OpeningParts,
  database: NonNullable<Parts['database']>,
): Promise<AlertLog> => {
  const journal = await DatabaseLog.open({
    ...{ database, table: 'alert', instance: await readInstanceId(openLog), clock, indexing },
    retainDays: settings.alertsRetainDays,
    queueCount: settings.alertsQueueCount,
    queueBytes: settings.alertsQueueBytes,
  });
  const intake = new SharedAlerts(journal, clock);
  if (settings.spool) {
    intake.spool = await Spool.open({
      ...{ openLog, openSnapshot, log },
      segmentBytes: settings.alertsSegmentBytes,
      minFreeBytes: settings.alertsMinFreeBytes,
      sync: settings.alertsSync,
      canShip: () => journal.state().healthy,
      ship: (lines) => intake.ship(lines),
    });
  }
  const { spool } = intake;
  meters.reading('gauge', 'signalbox_alerts_spooled', 'Alerts that wait on disk for the database.', () => [
    [[], spool?.waiting ?? 0],
  ]);
  return {
    journal,
    own: {
      readAfter: (seq) => journal.readOwnAfter(seq),
      onStored: (listener) => journal.onStored(listener),
      holdFrom: () => journal.holdFrom(),
      state: () => journal.state(),
    },
    isOwn: (record) => journal.isOwn(record),
    intake,
    readiness: () => {
      const { healthy } = journal.state();
      return { isReady: healthy || spool?.isHealthy === true, unavailable: healthy ? [] : ['database'] };
    },
    reopen: () => Promise.all([journal.reopen(), spool?.reopen()]),
    close: async () => {
      await spool?.close();
      await journal.close();
    },
  };
};
