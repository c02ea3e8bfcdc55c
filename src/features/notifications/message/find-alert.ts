import { RecentValues } from '../../../kit/recent-values.ts';
import { awaitWithin } from '../../../lib/scheduling.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import type { RecordLog } from '../../../storage/record-log.ts';

/** Most alerts in the cache, each with up to 1 MiB. */
const mostCached = 32;

/** Longest wait for an alert, in milliseconds. */
const patienceMs = 2000;

/** Finds an alert of the log by its id. Resolves to undefined for a missing, unreadable or slow alert; never rejects. */
export type FindAlert = (id: string) => Promise<StoredRecord | undefined>;

/** Returns a function with a cache for all destinations, which need the same alerts at about the same time. */
export const createAlertFinder = (alerts: Pick<RecordLog, 'find'>): FindAlert => {
  const cached = new RecentValues<Promise<StoredRecord | undefined>>(mostCached);
  const find = (id: string): Promise<StoredRecord | undefined> =>
    cached.get(id, () => {
      const finding = alerts.find(id).catch(() => undefined);
      void finding.then((record) => record ?? cached.delete(id));
      return finding;
    });
  return (id) => awaitWithin(patienceMs, find(id));
};
