import { randomBytes } from 'node:crypto';
import type { Static, TObject } from 'typebox';
import { SettingsError } from '../../config/settings-error.ts';
import { alertIndexing } from '../../kit/alert-record.ts';
import type { OwnAlerts } from '../../kit/alert-source.ts';
import type { Parts } from '../../kit/feature.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { isFeatureEvent, type StoredRecord } from '../../storage/journal/line.ts';
import type { Database } from '../../storage/postgres/database.ts';
import { DatabaseLog } from '../../storage/postgres/database-log.ts';
import { Projection } from '../../storage/projection.ts';
import type { FollowedLog, RecordLog, Release } from '../../storage/record-log.ts';
import type { Storage } from '../../storage/storage.ts';
import { FiringAlerts, type FiringState } from './firing.ts';
import { type AlertIntake, LocalAlerts, type RepeatParts } from './intake/repeats.ts';
import { openKnownAlerts, toFiringState } from './known-alerts.ts';
import { type alertSettings, defaultRetainDays } from './schema.ts';
import { SharedAlerts, Spool } from './shared.ts';

const ignore = (): void => undefined;

/** How many of the last alerts of a shared log are read on startup. */
const tailCount = 20_000;

/** Days for which alerts are kept for ever: the default of a log that was begun before there was a limit. */
const forever = 0;

/** The log of alerts, and what stores them in it. */
export interface AlertLog {
  /** Alerts alone. */
  journal: RecordLog;
  /** The same, with events of features. */
  events: FollowedLog;
  /** The same, of which only alerts that this instance has received are read. */
  own: OwnAlerts;
  isOwn(record: Record<string, unknown>): boolean;
  intake: AlertIntake;
  firing: FiringState;
  /** Resolves when `firing` knows what the end of the log says, as far as that can be read. */
  whenRead(): Promise<void>;
  /** What a start says about it. */
  notices: string[];
  /** Whether alerts can be stored, and what else cannot be used meanwhile. */
  readiness(): { isReady: boolean; unavailable: string[] };
  /** Called once all that read the log have said with `holdFrom` what they need. */
  beginRetention(): void;
  close(): Promise<void>;
}

type OpeningParts = Pick<Parts, 'storage' | 'clock' | 'log' | 'meters'> &
  Pick<RepeatParts, 'repeatAfterMs' | 'hear'> & { settings: Static<TObject<typeof alertSettings>> };

/** Opens the log in the database that instances share, if there is one, or else in files of this machine. */
export const openAlertLog = (parts: OpeningParts): Promise<AlertLog> =>
  parts.storage.database ? openShared(parts, parts.storage.database) : openLocal(parts);

const openLocal = async ({ storage, clock, log, settings, repeatAfterMs, hear }: OpeningParts): Promise<AlertLog> => {
  const { alertsRetainDays } = settings;
  const retainDays = alertsRetainDays ?? (await readDefaultDays(storage));
  const opened = await storage.log('alerts', {
    title: 'alert log',
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
    indexing: alertIndexing,
  });
  const { journal: events, beginRetention } = collectHolds(opened);
  const journal = readAlertsOf(events);
  const known = await openKnownAlerts({ events, snapshot: storage.snapshot('alerts.known'), clock, log });
  return {
    journal,
    events,
    intake: new LocalAlerts(journal, known, { clock, repeatAfterMs, hear }),
    firing: toFiringState(known),
    whenRead: () => known.catchUp().catch(ignore),
    notices: alertsRetainDays === undefined && retainDays === 0 ? [keptNotice] : [],
    own: journal,
    isOwn: () => true,
    beginRetention,
    readiness: () => ({ isReady: journal.state().healthy, unavailable: [] }),
    close: async () => {
      // So that the next start reads little.
      if (known.isReady) await known.save().catch(ignore);
      await known.close();
      await journal.close();
    },
  };
};

/** The alerts of a log, without events of features. */
const readAlertsOf = (events: RecordLog): RecordLog => {
  const isAlert = (record: StoredRecord): boolean => !isFeatureEvent(record);
  return {
    ...events,
    readAfter: async function* (seq) {
      for await (const records of events.readAfter(seq)) {
        const alerts = records.every(isAlert) ? records : records.filter(isAlert);
        if (alerts.length > 0) yield alerts;
      }
    },
    recentAfter: (seq) => events.recentAfter?.(seq)?.filter(isAlert),
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
  { storage, clock, log, meters, settings, repeatAfterMs, hear }: OpeningParts,
  database: Database,
): Promise<AlertLog> => {
  let isTold = false;
  const journal = await DatabaseLog.open({
    database,
    table: 'alert',
    hasEvents: true,
    instance: await readInstanceId(storage),
    clock,
    indexing: alertIndexing,
    retainDays: async () => {
      const days = settings.alertsRetainDays ?? (await readSharedDefaultDays(database));
      if (days === 0 && settings.alertsRetainDays === undefined && !isTold) log.info(keptNotice);
      isTold = true;
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
  const intake = new SharedAlerts(journal, { clock, firing, catchUp, repeatAfterMs, hear });
  if (settings.spool) {
    intake.spool = await Spool.open({
      storage,
      log,
      segmentBytes: settings.alertsSegmentBytes,
      minFreeBytes: settings.alertsMinFreeBytes,
      sync: settings.alertsSync,
      canShip: () => journal.state().healthy,
      ship: (lines) => intake.ship(lines),
    });
  }
  const { spool } = intake;
  meters.reading('gauge', 'signalbox_alerts_spooled', 'Alerts that wait on disk for the database.', () => [
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
    beginRetention: () => undefined,
    intake,
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

/** The seq after which the last alerts of a shared log come: events have seqs of the same order. @throws StoreUnavailable */
const findTail = async (database: Pick<Database, 'query'>, log: Pick<DatabaseLog, 'state'>): Promise<number> => {
  if (log.state().lastSeq === undefined) throw new StoreUnavailable('The database was not reached yet');
  const [row] = await database.query({
    text: `SELECT seq FROM signalbox.alert ORDER BY seq DESC OFFSET ${tailCount} LIMIT 1`,
  });
  return row?.seq ?? 0;
};

/** What a start says where alerts are kept for ever because they were before. */
export const keptNotice = `alertsRetainDays is not set: alerts are kept for ever, as they were before; new logs keep them for ${defaultRetainDays} days`;

/**
 * The default for the log in files. It is decided once, when this version first opens the log, by whether there are alerts
 * in it, and then kept in a small file beside it: nothing that was kept for ever is deleted by an upgrade.
 */
const readDefaultDays = async (storage: Storage) => {
  const file = storage.file('alerts.retain-days');
  const known = String((await file.read()) ?? '').trim();
  if (known !== '') return known === String(forever) ? forever : defaultRetainDays;
  const journal = await storage.log('alerts', { title: 'alert log', awaitsHold: true });
  const days = journal.state().lastSeq === 0 ? defaultRetainDays : forever;
  await journal.close();
  // Where it cannot be written, the next start decides; it never deletes more for that.
  await file.write(Buffer.from(`${days}\n`)).catch(() => undefined);
  return days;
};

/** The same for the log in a database, for all instances: it is kept as a row beside the gate of the alerts. */
const readSharedDefaultDays = async (database: Pick<Database, 'query'>): Promise<number> => {
  const name = 'alert_days';
  await database.query({
    text: `INSERT INTO signalbox.gate (name, last_id)
      SELECT $1, CASE WHEN last_id = (SELECT count(*) FROM signalbox.alert_event) THEN $2::bigint ELSE $3::bigint END
      FROM signalbox.gate WHERE name = 'alert'
      ON CONFLICT (name) DO NOTHING`,
    values: [name, defaultRetainDays, forever],
  });
  const text = 'SELECT last_id AS days FROM signalbox.gate WHERE name = $1';
  const [row] = await database.query({ text, values: [name] });
  return row.days;
};

/** The name of this data directory in `via`, made on first use: `signalbox/0123456789abcdef`. */
export const readInstanceId = async (storage: Storage): Promise<string> => {
  const journal = await storage.log('outbox', { title: 'outbox' });
  try {
    const listing = await journal.listLast(1);
    for await (const { instance } of listing.records()) return String(instance);
    const instance = `signalbox/${randomBytes(8).toString('hex')}`;
    await journal.append({ instance }).catch(({ message }: Error) => {
      throw new SettingsError([`dataDir: ${message}`]);
    });
    return instance;
  } finally {
    await journal.close();
  }
};
