import type { StoredRecord } from '../../storage/journal/read/lines.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { Topic } from '../topic.ts';
import type { FiringAlerts } from './firing/firing-alerts.ts';
import { toEntry } from './reading/entry.ts';
import { AlertEntry } from './reading/schema.ts';

/** Milliseconds for which alerts are collected while many come, so that a listener gets them in few writes. */
const collectingMs = 20;

/** Each stored alert as search returns it, in order; the event's id is the alert's seq. */
export const createAlertsTopic = (journal: RecordLog, firing: FiringAlerts): Topic => {
  let { lastSeq: stored } = journal.state();
  const wakeups = new Set<() => void>();
  let wokenAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const wakeAll = (): void => {
    timer = undefined;
    wokenAt = performance.now();
    for (const wake of wakeups) wake();
  };
  journal.onStored((seq) => {
    stored = seq;
    if (wakeups.size === 0 || timer) return;
    timer = setTimeout(wakeAll, Math.max(1, wokenAt + collectingMs - performance.now())).unref();
  });
  const encode = createEncoder(firing);
  return {
    access: 'open',
    schema: AlertEntry,
    scope: 'alerts:read',
    lastId: () => stored,
    refresh: async () => journal.refresh?.(),
    subscribe: (send, after) => {
      // Before the log was reached, nobody knows what is new.
      let sent = stored === undefined ? undefined : after;
      let isEnded = false;
      let isReading = false;
      /** Reads what is new until there is no more; a slow reader makes it wait. */
      const read = async (): Promise<void> => {
        if (isReading) return;
        isReading = true;
        while (!isEnded && stored !== undefined) {
          sent ??= stored;
          if (sent >= stored) break;
          const end = stored;
          const recent = journal.recentAfter?.(sent);
          for await (const records of recent ? [recent] : journal.readAfter(sent)) {
            for (const record of records) {
              if (isEnded) return;
              const room = send(encode(record), record.seq);
              sent = record.seq;
              if (room) await room;
            }
          }
          sent = Math.max(sent, end);
        }
        isReading = false;
      };
      // After an error the next stored alert tries again.
      const wake = (): void =>
        void read().catch(() => {
          isReading = false;
        });
      wakeups.add(wake);
      wake();
      return () => {
        isEnded = true;
        wakeups.delete(wake);
      };
    },
  };
};

/** Makes an alert's event once for all listeners, and again if another alert has ended it since. */
const createEncoder = (firing: FiringAlerts): ((record: StoredRecord) => string) => {
  const known = new WeakMap<StoredRecord, { resolvedBy: string | undefined; text: string }>();
  return (record) => {
    const resolvedBy = firing.findResolution(record)?.id;
    const last = known.get(record);
    if (last && last.resolvedBy === resolvedBy) return last.text;
    const text = JSON.stringify(toEntry(record, firing));
    known.set(record, { resolvedBy, text });
    return text;
  };
};
