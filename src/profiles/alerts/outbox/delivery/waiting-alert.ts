import type { StoredRecord } from '../../../../storage/journal/read/forward.ts';
import { toSeverity } from '../../../severity.ts';
import { formatOf, toReceivedAt } from '../alert.ts';

/** An alert that is to be sent. */
export interface WaitingAlert {
  readonly seq: number;
  readonly id: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  readonly isCritical: boolean;
  /** Alerts with one key are sent in the order of the log; undefined if it has no others. */
  readonly key: string | undefined;
  /** Failed attempts. */
  attempts: number;
  /** How often it was rejected, since startup. */
  rejections: number;
  /** When it was first tried in vain, or held back, since startup; Unix milliseconds. */
  failingSince?: number;
  /** Failed attempts that may be about this alert, since the receiver last recovered. */
  suspicion: number;
  /** When it may be tried again, by the monotonic clock. */
  dueAt: number;
  /** It was tried before it was due; that is done once between two regular attempts. */
  isEarly: boolean;
  /** `ready`: may be sent. `later`: is not due. `behind`: an older alert has its key. */
  state: 'ready' | 'later' | 'behind' | 'running';
}

/** A record of the log as an alert that waits. */
export const toWaiting = (record: StoredRecord, attempts: number): WaitingAlert => {
  const { seq, id, sender, fingerprint, status, level } = record;
  return {
    ...{ seq, id, receivedAt: toReceivedAt(record), attempts },
    isCritical: status !== 'resolved' && toSeverity(String(level)) === 'CRITICAL',
    key: typeof fingerprint === 'string' ? `${sender}\n${formatOf(record)}\n${fingerprint}` : undefined,
    ...{ rejections: 0, suspicion: 0, dueAt: 0, isEarly: false, state: 'ready' },
  };
};
