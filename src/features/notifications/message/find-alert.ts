import { RecentValues } from '../../../kit/recent-values.ts';
import { awaitWithin } from '../../../lib/scheduling.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import type { RecordLog } from '../../../storage/record-log.ts';

/** Alerts that are kept for other destinations; each has at most a MiB. */
const mostFound = 32;

/** Milliseconds for which something to send waits at most for an alert that it tells more of. */
const patienceMs = 2000;

/** Finds an alert of the log by its id. Never rejects: what is sent is sent without it rather than not at all. */
export type FindAlert = (id: string) => Promise<StoredRecord | undefined>;

/** Finds alerts for all destinations: they tell of the same incidents at about the same time. */
export const createAlertFinder = (alerts: Pick<RecordLog, 'find'>): FindAlert => {
  const found = new RecentValues<Promise<StoredRecord | undefined>>(mostFound);
  const find = (id: string): Promise<StoredRecord | undefined> =>
    found.get(id, () => {
      const finding = alerts.find(id).catch(() => undefined);
      void finding.then((record) => record ?? found.delete(id));
      return finding;
    });
  return (id) => awaitWithin(patienceMs, find(id));
};
