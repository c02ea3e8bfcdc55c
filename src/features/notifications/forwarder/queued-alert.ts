import { formatOf, readTime } from '../../../kit/alert-record.ts';
import { toSeverity } from '../../../kit/severity.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import { createQueued, type Queued } from '../queue/waiting.ts';
import type { OpenAlert } from './progress.ts';

/** Queued alert. Its record is read only when it is sent. */
export interface ForwardedAlert {
  id: string;
  /** Id of the first alert in a series of repeats. Undefined for an alert without a fingerprint. */
  series: string | undefined;
  /** Set if an administrator requested the alert. It is then sent even if it is a repeat that is not due. */
  asked?: StoredRecord;
}

export type QueuedAlert = Queued<ForwardedAlert>;

/** Converts a record to an alert for the queue. `open` has the number of earlier attempts. */
export const toQueuedAlert = (record: StoredRecord, { attempts, again }: OpenAlert = { attempts: 0 }): QueuedAlert => {
  const { seq, id, sender, fingerprint, status, level, repeatOf } = record;
  const first = typeof repeatOf === 'string' ? repeatOf : id;
  return createQueued(
    {
      seq,
      content: { id, series: fingerprint === undefined ? undefined : first },
      receivedAt: readTime(record) ?? 0,
      askedAt: again?.at,
      isCritical: status !== 'resolved' && toSeverity(String(level)) === 'CRITICAL',
      key: typeof fingerprint === 'string' ? `${sender}\n${formatOf(record)}\n${fingerprint}` : undefined,
    },
    { attempts },
  );
};
