import type { Static, TObject } from 'typebox';
import { DatabaseLog } from '../../storage/postgres/records/database-log.ts';
import type { RecordLog, Release } from '../../storage/record-log.ts';
import type { Parts } from '../feature.ts';
import { readTime } from './alert.ts';
import { FiringAlerts } from './firing/firing-alerts.ts';
import { LogFollower } from './firing/follow-log.ts';
import { type AlertIntake, type RepeatParts, Repeats } from './intake/repeats.ts';
import { readInstanceId } from './outbox/instance-id.ts';
import { keptNotice, readDefaultDays, readSharedDefaultDays } from './retention.ts';
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
  firing: FiringAlerts;
  /** Whether alerts can be stored, and what else cannot be used meanwhile. */
  /** What a start says about it. */
  notices: string[];
  readiness(): { isReady: boolean; unavailable: string[] };
  /** Called once all that read the log have said with `holdFrom` what they need. */
  beginRetention(): void;
  reopen(): Promise<unknown>;
  close(): Promise<void>;
}

type OpeningParts = Pick<Parts, 'database' | 'openLog' | 'openSnapshot' | 'clock' | 'log' | 'meters'> &
  Pick<RepeatParts, 'repeatAfterMs'> & { settings: Static<TObject<typeof alertSettings>> };

const indexing = {
  timeOf: readTime,
  keyOf: ({ level }: Record<string, unknown>) => (typeof level === 'string' ? level : ''),
  keys: ['CRITICAL', 'ERROR', 'WARNING', 'INFO'],
};

/** Opens the log in the database that instances share, if there is one, or else in files of this machine. */
export const openAlertLog = (parts: OpeningParts): Promise<AlertLog> =>
  parts.database ? openShared(parts, parts.database) : openLocal(parts);

const openLocal = async ({
  openLog,
  openSnapshot,
  clock,
  log,
  settings,
  repeatAfterMs,
}: OpeningParts): Promise<AlertLog> => {
  const { alertsRetainDays } = settings;
  const retainDays = alertsRetainDays ?? (await readDefaultDays({ openLog, openSnapshot }));
  const opened = await openLog('alert log', {
    name: 'alerts',
    segmentBytes: settings.alertsSegmentBytes,
    retainSegments: settings.alertsRetainSegments,
    retainBytes: settings.alertsRetainBytes,
    retainDays,
    queueCount: settings.alertsQueueCount,
    queueBytes: settings.alertsQueueBytes,
    minFreeBytes: settings.alertsMinFreeBytes,
    sync: settings.alertsSync,
    awaitsHold: true,
    recentCount: 1000,
    indexing,
  });
  const { journal, beginRetention } = collectHolds(opened);
  const firing = new FiringAlerts(clock);
  const intake = new Repeats(journal, { clock, firing, repeatAfterMs }, (err) => {
    log.warn({ err }, 'alert log: its end cannot be read, so alerts that come again may be stored again');
  });
  return {
    ...{ journal, intake, firing },
    notices: alertsRetainDays === undefined && retainDays === 0 ? [keptNotice] : [],
    own: journal,
    isOwn: () => true,
    beginRetention,
    readiness: () => ({ isReady: journal.state().healthy, unavailable: [] }),
    reopen: () => journal.reopen(),
    close: async () => {
      await intake.close();
      await journal.close();
    },
  };
};

/** A log from which nothing is deleted before all its readers have said what they need. */
const collectHolds = (opened: RecordLog): { journal: RecordLog; beginRetention(): void } => {
  type Hold = Parameters<RecordLog['holdFrom']>;
  let holds: { hold: Hold; onBegun(release: Release): void }[] | undefined = [];
  const holdFrom: RecordLog['holdFrom'] = async (...hold) => {
    if (!holds) return opened.holdFrom(...hold);
    let release: Release | undefined;
    holds.push({ hold, onBegun: (released) => (release = released) });
    return () => release?.();
  };
  return {
    journal: { ...opened, holdFrom },
    beginRetention: () => {
      const ignore = (): void => undefined;
      // Without readers, nothing is needed.
      const none: Hold = [() => Number.POSITIVE_INFINITY, 0, ignore];
      for (const { hold, onBegun } of [...(holds ?? []), { hold: none, onBegun: ignore }]) {
        opened.holdFrom(...hold).then(onBegun, ignore);
      }
      holds = undefined;
    },
  };
};

const openShared = async (
  { openLog, openSnapshot, clock, log, meters, settings, repeatAfterMs }: OpeningParts,
  database: NonNullable<Parts['database']>,
): Promise<AlertLog> => {
  let isTold = false;
  const journal = await DatabaseLog.open({
    ...{ database, table: 'alert', instance: await readInstanceId(openLog), clock, indexing },
    retainDays: async () => {
      const days = settings.alertsRetainDays ?? (await readSharedDefaultDays(database));
      if (days === 0 && settings.alertsRetainDays === undefined && !isTold) log.info(keptNotice);
      isTold = true;
      return days;
    },
    queueCount: settings.alertsQueueCount,
    queueBytes: settings.alertsQueueBytes,
  });
  const firing = new FiringAlerts(clock);
  const follower = new LogFollower(journal, firing);
  const intake = new SharedAlerts(journal, { clock, firing, follower, repeatAfterMs });
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
    notices: [],
    isOwn: (record) => journal.isOwn(record),
    beginRetention: () => undefined,
    ...{ intake, firing },
    readiness: () => {
      const { healthy } = journal.state();
      return { isReady: healthy || spool?.isHealthy === true, unavailable: healthy ? [] : ['database'] };
    },
    reopen: () => Promise.all([journal.reopen(), spool?.reopen()]),
    close: async () => {
      await follower.close();
      await spool?.close();
      await journal.close();
    },
  };
};
