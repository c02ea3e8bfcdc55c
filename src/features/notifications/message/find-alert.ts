import { RecentValues } from '../../../kit/recent-values.ts';
import { awaitWithin } from '../../../lib/scheduling.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import type { RecordLog } from '../../../storage/record-log.ts';

/** Maximum number of cached alerts, each of up to 1 MiB. */
const mostCached = 32;

/** Maximum milliseconds to wait for an alert. */
const patienceMs = 2000;

/**
 * Finds a logged alert by id. Resolves to undefined if the alert is missing, unreadable or slow to read. Never rejects.
 */
export type FindAlert = (id: string) => Promise<StoredRecord | undefined>;

/** Creates a finder whose cache all destinations share. They need the same alerts at about the same time. */
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
