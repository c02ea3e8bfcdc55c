import { alertIndexing } from '../../../kit/alert-record.ts';
import { isFeatureEvent, type StoredRecord } from '../../../storage/journal/line.ts';
import type { RecordLog, Release } from '../../../storage/record-log.ts';
import type { AlertLog, AlertLogParts } from './alert-log.ts';
import { openAlertProjection, toFiringState } from './alert-projection.ts';
import { FileAlertStore } from './file-store.ts';
import { readFileRetention, unlimitedNotice } from './retention.ts';

const ignore = (): void => undefined;

/** Opens the alert log in the data directory's `alerts.jsonl`. */
export const openFileLog = async (parts: AlertLogParts): Promise<AlertLog> => {
  const { storage, clock, log, settings, repeatAfterMs, onReceived } = parts;
  const { alertsRetainDays } = settings;
  const retainDays = alertsRetainDays ?? (await readFileRetention(storage));
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
  const { journal: events, beginRetention } = delayRetention(opened);
  const journal = withoutFeatureEvents(events);
  const projection = await openAlertProjection({ events, snapshot: storage.snapshot('alerts.known'), clock, log });
  return {
    journal,
    events,
    store: new FileAlertStore(journal, projection, { clock, repeatAfterMs, onReceived }),
    firing: toFiringState(projection),
    whenRead: () => projection.catchUp().catch(ignore),
    notices: alertsRetainDays === undefined && retainDays === 0 ? [unlimitedNotice] : [],
    own: journal,
    isOwn: () => true,
    beginRetention,
    readiness: () => ({ isReady: journal.state().healthy, unavailable: [] }),
    close: async () => {
      // With a snapshot at the end of the log, the next start reads little.
      if (projection.isReady) await projection.save().catch(ignore);
      await projection.close();
      await journal.close();
    },
  };
};

/** Limits a log to alerts, leaving out feature events. */
const withoutFeatureEvents = (events: RecordLog): RecordLog => {
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

/** Delays deletion until `beginRetention`, so that every reader can first hold the records that it needs. */
const delayRetention = (opened: RecordLog): { journal: RecordLog; beginRetention(): void } => {
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
      // Retention starts with the first hold, so a hold is set even if no reader needs any record.
      const none: Hold = [() => Number.POSITIVE_INFINITY, 0, ignore];
      for (const { hold, onBegun } of [...(holds ?? []), { hold: none, onBegun: ignore }]) {
        opened.holdFrom(...hold).then(onBegun, ignore);
      }
      holds = undefined;
    },
  };
};
