import { openFor } from '../../auth/access.ts';
import type { Topic } from '../../kit/topic.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import { LogFollower } from '../../storage/log-follower.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { FiringState } from './firing/firing-alerts.ts';
import { AlertEntry } from './schema.ts';
import { toEntry } from './shown-alert.ts';

/** Milliseconds for which alerts are collected under load, so that listeners receive them in fewer writes. */
const collectingMs = 20;

/** Creates the topic of stored alerts, in the form of search results. The id of an event is the seq of its alert. */
export const createAlertsTopic = (journal: RecordLog, firing: FiringState): Topic => {
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
    ...openFor('alerts:read'),
    schema: AlertEntry,
    lastId: () => stored,
    refresh: async () => journal.refresh?.(),
    subscribe: (send, after) => {
      // The last seq is unknown until the log is available.
      const from = stored === undefined ? undefined : after;
      const follower = new LogFollower(journal, {
        lastSeq: () => stored,
        from: (lastSeq) => from ?? lastSeq,
        take: (record) => send(encode(record), record.seq),
      });
      const wake = (): void => void follower.readOn();
      wakeups.add(wake);
      wake();
      return () => {
        wakeups.delete(wake);
        void follower.end();
      };
    },
  };
};

/** Encodes each alert once for all listeners, and once more after it has been resolved. */
const createEncoder = (firing: FiringState): ((record: StoredRecord) => string) => {
  const known = new WeakMap<StoredRecord, { resolvedBy: string | undefined; text: string }>();
  return (record) => {
    const resolution = firing.state.findResolution(record);
    const resolvedBy = resolution?.id;
    const last = known.get(record);
    if (last && last.resolvedBy === resolvedBy) return last.text;
    const text = JSON.stringify(toEntry(record, resolution));
    known.set(record, { resolvedBy, text });
    return text;
  };
};
