import type { RecordLog } from '../../storage/record-log.ts';
import type { Topic } from '../topic.ts';
import type { FiringAlerts } from './firing/firing-alerts.ts';
import { toEntry } from './reading/entry.ts';

/** Each stored alert as search returns it, in order; the event's id is the alert's seq. */
export const createAlertsTopic = (journal: RecordLog, firing: FiringAlerts): Topic => {
  let { lastSeq: stored } = journal.state();
  const wakeups = new Set<() => void>();
  journal.onStored((seq) => {
    stored = seq;
    for (const wake of wakeups) wake();
  });
  return {
    access: 'open',
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
          for await (const records of journal.readAfter(sent)) {
            for (const record of records) {
              if (isEnded) return;
              await send(JSON.stringify(toEntry(record, firing)), record.seq);
              sent = record.seq;
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
